/** How long silence may last, in seconds; the length of a transfer does not matter. */
export interface HaproxyTimeouts {
  /** Until a TLS hello and the head of a request are complete. */
  head: number
  /** Inside the body of a request. */
  body: number
  /** Of a service that has not finished its answer, and of a visitor who does not read it. */
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
  /** Of visitors, at the same time; each may take four open files, and a fifth of them two more. */
  maxConnections: number
  connectionsPerSource: number
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
