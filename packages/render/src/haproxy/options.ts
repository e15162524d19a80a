/** A first and a last port. */
export interface PortSpan {
  from: number
  to: number
}

/** How long silence may last, in seconds; the length of a transfer does not matter. */
export interface HaproxyTimeouts {
  /** Until a TLS hello and the head of a request are complete. */
  head: number
  /** Inside the body of a request. */
  body: number
  /** For a service that has not finished its answer, and a visitor who does not read it. */
  idle: number
}

/** The settings of an installation that HAProxy's configuration depends on. Durations are in seconds. */
export interface HaproxyOptions {
  /** Absolute, of plain characters; holds every file of HAProxy's. */
  directory: string
  serverSocket: string
  /** Holds the sockets by which the parts of HAProxy reach each other. */
  lanes: string
  /** HAProxy's root directory once it runs as its own user: above the server's socket and the lanes. */
  root: string
  /** IP literals to listen on. */
  addresses: readonly string[]
  httpPort: number
  httpsPort: number
  publicHost: string
  /** Whom HAProxy becomes once its ports are bound; null: it stays who started it. */
  user: { uid: number; gid: number } | null
  /** Visitors' connections at the same time; each may take four open files, and a fifth of them two more. */
  maxConnections: number
  connectionsPerSource: number
  /** To bind for TCP services: those of the installation's range that no other program holds. */
  ports: readonly PortSpan[]
  /** Connections to TCP services at the same time; each takes two open files. */
  portConnections: number
  /** How many of them may have their TLS end here or come over IPv6, which takes two more. */
  tlsPortConnections: number
  /** Where the edge takes log lines, on 127.0.0.1. */
  logPort: number
  /** What each log line begins with, so that nobody else can write one: hex digits. */
  logSecret: string
  connectTimeout: number
  timeouts: HaproxyTimeouts
  tunnelTimeout: number
}

/** A setting that must not be pasted into a configuration. */
export class RenderError extends Error {
  readonly code = 'render'
}

/** Every file HAProxy reads or is reached by, below its directory. */
export function haproxyPaths(directory: string) {
  return {
    config: `${directory}/haproxy.cfg`,
    lua: `${directory}/postern.lua`,
    page: (name: string) => `${directory}/pages/${name}.html`,
    pages: `${directory}/pages`,
    routes: `${directory}/routes.map`,
    lists: `${directory}/lists.map`,
    nodes: `${directory}/nodes.map`,
    signIn: `${directory}/sign-in.map`,
    challenges: `${directory}/challenges.map`,
    certificates: `${directory}/certs`,
    certificate: (id: number) => `${directory}/certs/${id}.pem`,
    certificateList: `${directory}/certs.list`,
    socket: `${directory}/admin.sock`,
    leaving: `${directory}/leaving`,
    leaver: (pid: number) => `${directory}/leaving/${pid}.sock`,
    output: `${directory}/haproxy.log`,
    pid: `${directory}/haproxy.pid`,
    logPort: `${directory}/log-port`,
    logSecret: `${directory}/log-secret`,
  } as const
}
export type HaproxyPaths = ReturnType<typeof haproxyPaths>

/** A way from one part of HAProxy to the next, through a socket that only HAProxy reaches. */
export type Lane = 'h1' | 'h2' | DialLane | 'port' | 'own' | 'plain'
/** Those that dial a service, or the server itself, for each request. */
export type DialLane = 'once' | 'grpc' | 'console'
/** The same for what may have a body, see `FACTS`. */
export type BareLane = `${DialLane}-bare` | 'drain'

/**
 * Where the next part listens. HAProxy binds it before it becomes another user, and by that user's group: its unit does
 * not let root change what is another's already.
 */
export function laneBind(options: HaproxyOptions, lane: Lane): string {
  return `${bareBind(options, lane)} accept-proxy`
}

/** The same for requests that bring all that is known of them in headers. */
export function bareBind({ lanes, user }: HaproxyOptions, lane: Lane | BareLane): string {
  const access = user === null ? 'mode 600' : `mode 660 gid ${user.gid}`
  return `unix@${lanes}/${lane}.sock ${access}`
}

/** What the part before dials. It tells who the visitor is, and in the unique id what it knows of the request. */
export function laneServer(options: HaproxyOptions, lane: Lane): string {
  return `${bareServer(options, lane)} send-proxy-v2 proxy-v2-options unique-id`
}

export function bareServer(options: HaproxyOptions, lane: Lane | BareLane): string {
  return socketInside(options, `${options.lanes}/${lane}.sock`)
}

/** A socket as HAProxy dials it, from within its chroot when it has one. */
export function socketInside({ root, user }: HaproxyOptions, path: string): string {
  return `unix@${user === null ? path : path.slice(root.length)}`
}
