import { type IncomingMessage, request as requestHttp } from 'node:http'
import { codeOf, messageOf } from '@postern/host/errors'
import { networkReason, request } from '@postern/host/http'
import * as z from 'zod/mini'
import { parseJson } from '../files.ts'

/** The address of the Docker Engine's API: a socket of this machine, or a proxy in front of one. */
export type EngineAddress = { socketPath: string } | { host: string; port: number }

/** What discovery needs to know about a running container. */
export interface Container {
  id: string
  name: string
  labels: Record<string, string>
  /** The TCP ports that its image exposes. */
  ports: number[]
  networks: { name: string; address: string }[]
}

/** The Docker Engine's API; we only read. */
export interface Engine {
  /**
   * The running containers.
   * @throws EngineError in words
   */
  listContainers(): Promise<Container[]>
  /**
   * Calls back for every event, until the connection ends.
   * @throws EngineError when it cannot be opened
   */
  follow(onEvent: () => void, signal: AbortSignal): Promise<void>
}

export class EngineError extends Error {}

const PATIENCE = 15_000
const MAX_LIST = 8 * 1024 * 1024
/** Events that start, end or move a container. Health checks of containers are events too, but not for us. */
const EVENTS = {
  type: ['container', 'network'],
  event: ['start', 'die', 'pause', 'unpause', 'rename', 'connect', 'disconnect'],
}

/** `unix:///var/run/docker.sock`, a path, or `tcp://host:port`. @returns undefined when it is none of them */
export function findEngineAddress(text: string): EngineAddress | undefined {
  const path = /^(?:unix:\/\/)?(\/[^\0]{1,100})$/.exec(text)?.[1]
  if (path !== undefined) return { socketPath: path }
  const [, host, digits] = /^(?:tcp|http):\/\/([A-Za-z0-9.-]{1,253}):(\d{1,5})\/?$/.exec(text) ?? []
  const port = Number(digits)
  return host !== undefined && port >= 1 && port <= 65_535 ? { host, port } : undefined
}

const Version = z.object({ ApiVersion: z.string().check(z.regex(/^1\.\d{1,3}$/)) })

const Row = z.object({
  Id: z.string().check(z.regex(/^[0-9a-f]{12,64}$/)),
  Names: z.nullish(z.array(z.string())),
  Labels: z.nullish(z.record(z.string(), z.string())),
  Ports: z.nullish(z.array(z.object({ PrivatePort: z.number(), Type: z.string() }))),
  NetworkSettings: z.nullish(
    z.object({ Networks: z.nullish(z.record(z.string(), z.object({ IPAddress: z.nullish(z.string()) }))) }),
  ),
})

export function createEngine(address: EngineAddress): Engine {
  const base = 'socketPath' in address ? 'http://docker' : `http://${address.host}:${address.port}`
  const socketPath = 'socketPath' in address ? address.socketPath : undefined

  async function get<T extends z.ZodMiniType>(path: string, schema: T): Promise<z.output<T>> {
    try {
      const answer = await request(new URL(path, base), {
        method: 'GET',
        socketPath,
        timeoutMs: PATIENCE,
        maxBytes: MAX_LIST,
      })
      if (answer.status !== 200) throw refused(path, answer.status)
      const value = parseJson(answer.body, schema)
      if (value === undefined) throw new EngineError(`Docker's answer to ${path} cannot be read`)
      return value
    } catch (error) {
      throw error instanceof EngineError
        ? error
        : new EngineError(unreachable(address, error), { cause: error })
    }
  }

  /** The engine's newest version: the parts that we read have been the same for years. */
  const apiOf = async () => `/v${(await get('/version', Version)).ApiVersion}`

  return {
    async listContainers() {
      const rows = await get(`${await apiOf()}/containers/json`, z.array(Row))
      return rows.map(toContainer)
    },
    async follow(onEvent, signal) {
      const filters = encodeURIComponent(JSON.stringify(EVENTS))
      const url = new URL(`${await apiOf()}/events?filters=${filters}`, base)
      await stream(url, socketPath, onEvent, signal).catch((error: unknown) => {
        throw error instanceof EngineError
          ? error
          : new EngineError(unreachable(address, error), { cause: error })
      })
    },
  }
}

function toContainer(row: z.infer<typeof Row>): Container {
  const names = (row.Names ?? []).map((name) => name.replace(/^\//, ''))
  const networks = Object.entries(row.NetworkSettings?.Networks ?? {})
  const exposed = (row.Ports ?? []).filter(({ Type }) => Type === 'tcp').map(({ PrivatePort }) => PrivatePort)
  return {
    id: row.Id,
    // Old links give a container more names, with a slash inside.
    name: names.find((name) => !name.includes('/')) ?? row.Id.slice(0, 12),
    labels: row.Labels ?? {},
    ports: [...new Set(exposed)],
    networks: networks.map(([name, { IPAddress }]) => ({ name, address: IPAddress ?? '' })),
  }
}

/** The events' content is not kept: only their arrival counts. */
function stream(
  url: URL,
  socketPath: string | undefined,
  onEvent: () => void,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = requestHttp(url, { method: 'GET', socketPath, agent: false, signal })
    const slow = setTimeout(() => outgoing.destroy(new Error('no answer')), PATIENCE)
    outgoing.on('error', reject)
    outgoing.on('close', () => {
      clearTimeout(slow)
      resolve()
    })
    outgoing.on('response', (answer: IncomingMessage) => {
      clearTimeout(slow)
      if (answer.statusCode !== 200) {
        reject(refused(url.pathname, answer.statusCode ?? 0))
        outgoing.destroy()
        return
      }
      // It does not report what happened before it was open.
      onEvent()
      answer.on('data', onEvent)
      answer.on('error', () => undefined)
    })
    outgoing.end()
  })
}

function refused(path: string, status: number): EngineError {
  const hint = status === 403 ? '. A socket proxy must allow containers, events and version' : ''
  return new EngineError(`Docker answered ${status} to ${path.replace(/\?.*/, '')}${hint}`)
}

function unreachable(address: EngineAddress, error: unknown): string {
  if (!('socketPath' in address))
    return `Cannot reach Docker at ${address.host}:${address.port}: ${networkReason(address.host, error)}`
  const { socketPath } = address
  switch (codeOf(error)) {
    case 'EACCES':
      return `Cannot open ${socketPath}: its group must be one of the container's (group_add in the compose file)`
    case 'ENOENT':
      return `There is no Docker socket at ${socketPath}`
    case 'ECONNREFUSED':
      return `Docker isn't running: nothing listens on ${socketPath}`
    default:
      return `Docker does not answer on ${socketPath}: ${messageOf(error)}`
  }
}
