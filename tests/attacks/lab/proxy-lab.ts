import {
  type HaproxyLab,
  makeConsoleRoute,
  makeHaproxyLab,
  makeLabRoute,
} from '../../../apps/edge/test/haproxy-lab.ts'
import { type Recorder, startRecorder } from './recorder.ts'
import type { RawRequest } from './strict-parser.ts'

export const HOST = 'a.example.com'
/** The same, except that `admin` gets paths without its prefix. */
export const STRIPPED_HOST = 'b.example.com'
/** Placeholder for an attack's own number, so that attacks can run at the same time. */
export const ID = 'ATTACK-ID'

/** Where the requests of one attack arrived. */
export interface Reached {
  by: string
  request: RawRequest
}

/**
 * A real HAProxy before recording backends: `root` and the canary `admin` share a host, `tool` has none of its own,
 * and the console takes the server's place.
 */
export interface ProxyLab {
  port: number
  plainPort: number
  haproxy: HaproxyLab
  /** A number that no other attack has. */
  nextId(): string
  reached(id: string): Reached[]
  /** Heads and bodies that could be read in two ways, and requests that belong to no attack. */
  faults(): string[]
  close(): Promise<void>
}

export async function startProxyLab(): Promise<ProxyLab> {
  const haproxy = await makeHaproxyLab({ connectionsPerSource: 4000 })
  const root = await startRecorder('root')
  const admin = await startRecorder('admin')
  const tool = await startRecorder('tool')
  const console = await startRecorder('console', haproxy.serverSocket)
  const all = [root, admin, tool, console]
  const problems = await haproxy.apply([
    makeConsoleRoute(),
    makeLabRoute(2, root.port, { domain: HOST }),
    makeLabRoute(3, admin.port, { domain: HOST, path: '/admin' }),
    makeLabRoute(4, tool.port, { domain: null, path: '/tool' }),
    makeLabRoute(5, root.port, { domain: STRIPPED_HOST }),
    makeLabRoute(6, admin.port, { domain: STRIPPED_HOST, path: '/admin', stripPath: true }),
  ])
  if (problems.length > 0) throw new Error(JSON.stringify(problems))
  let count = 0
  return {
    port: haproxy.httpsPort,
    plainPort: haproxy.httpPort,
    haproxy,
    nextId: () => String(++count).padStart(ID.length, '0'),
    reached: (id) => all.flatMap((recorder) => requestsOf(recorder, id)),
    faults: () => all.flatMap((recorder) => faultsOf(recorder)),
    async close() {
      await haproxy.close()
      for (const each of all) await each.close()
    },
  }
}

function faultsOf({ name, requests, faults }: Recorder): string[] {
  const unmarked = requests.filter(({ headers }) => !headers.some(([key]) => key === 'x-attack'))
  return [...faults, ...unmarked.map(({ head }) => `from no attack: ${head}`)].map(
    (fault) => `${name}: ${fault}`,
  )
}

function requestsOf({ name, requests }: Recorder, id: string): Reached[] {
  const isOf = ({ headers }: RawRequest) => headers.some(([key, value]) => key === 'x-attack' && value === id)
  return requests.filter(isOf).map((request) => ({ by: name, request }))
}
