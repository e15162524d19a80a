import { readFileSync } from 'node:fs'
import { type Api, signIn } from '../api.ts'
import { isApplied } from '../installation.ts'
import { addNamespace, connect, type Namespace } from '../lab/namespace.ts'
import type { Lab } from '../lab/network.ts'
import { until } from '../until.ts'
import { buildImage } from './build-image.ts'
import { type ComposeFile, type ComposeService, readCompose } from './compose.ts'
import { type Container, startContainer } from './container.ts'
import { ROOT } from './store.ts'

/** The compose file for people with a clone: the services `server` and `edge`. */
const COMPOSE = `${ROOT}deploy/docker/compose.yaml`
const IMAGE = 'localhost/postern-server:test'
/** The lab's server. */
const SERVER_ADDRESS = '203.0.113.1'

/** @returns the image's id */
export const buildServerImage = () =>
  buildImage({ dockerfile: `${ROOT}deploy/docker/Dockerfile`, context: ROOT, tag: IMAGE })

export interface ServerContainers {
  compose: ComposeFile
  server: Container
  edge: Container
  /** As the installation of a lab, so that its agents and visitors can use it. */
  dataDir: string
  interface: string
  api: Api
  /** The first account's password, from the log of the first start. */
  password: string
  start(name: 'server' | 'edge', how?: Otherwise): Promise<void>
  /** Waits until an edge has applied what is wanted. */
  untilApplied(): Promise<unknown>
  close(): Promise<void>
}

/**
 * `docker compose up` on the lab's server: the edge has its address, the server a network of its own.
 * @param neighbours addresses of containers by the names of their services, as Docker would answer for them
 */
export async function startServerContainers(
  lab: Lab,
  dataDir: string,
  neighbours: Record<string, string> = {},
): Promise<ServerContainers> {
  const compose = readCompose(COMPOSE)
  const own = await addOwnNetwork(lab)
  const places = { server: own, edge: lab.server }
  const begin = createStarter(compose, places, dataDir, neighbours)
  const [server, edge] = await Promise.all([begin('server'), begin('edge')])
  const password = await until('the initial password', () => /Password +(\S+)/.exec(server.logs())?.[1])
  const api = await signIn(`${dataDir}/run/server.sock`, 'admin', password)
  const containers: ServerContainers = {
    ...{ compose, server, edge, dataDir, api, password },
    interface: 'postern0',
    async start(name, how) {
      containers[name] = await begin(name, how)
    },
    untilApplied: () => until('the edge to have applied what is wanted', () => isApplied(api)),
    async close() {
      for (const container of [containers.server, containers.edge])
        if (container.isRunning()) await container.stop()
      await own.remove()
    },
  }
  await containers.untilApplied()
  return containers
}

/** Another image or command than the compose file's. */
interface Otherwise {
  image?: string
  entrypoint?: string[]
}

function createStarter(
  compose: ComposeFile,
  places: Record<'server' | 'edge', Namespace>,
  dataDir: string,
  neighbours: Record<string, string>,
) {
  const mounts = { server: `${dataDir}/server`, edge: `${dataDir}/edge`, run: `${dataDir}/run` }
  const names = Object.entries(neighbours).map(([name, address]) => `${address} ${name}\n`)
  const etc = { hosts: `127.0.0.1 localhost\n${names.join('')}` }
  // The first line that a person edits.
  const env = { POSTERN_PUBLIC_HOST: SERVER_ADDRESS }
  return (name: 'server' | 'edge', { image = IMAGE, entrypoint }: Otherwise = {}) => {
    const service = { ...serviceOf(compose, name), ...(entrypoint && { entrypoint, command: [] }) }
    return startContainer({ image, namespace: places[name], service, env, mounts, etc })
  }
}

export function serviceOf({ services }: ComposeFile, name: string): ComposeService {
  const service = services[name]
  if (!service) throw new Error(`the compose file has no service ${name}`)
  return service
}

async function addOwnNetwork(lab: Lab): Promise<Namespace> {
  const own = await addNamespace(`${lab.id}-app`)
  await connect(lab.server, 'papp', own, 'eth0')
  await lab.server.must('ip', 'link', 'set', 'papp', 'master', 'br0')
  await own.must('ip', 'addr', 'add', '203.0.113.20/24', 'dev', 'eth0')
  await own.must('ip', 'route', 'add', 'default', 'via', lab.server.address)
  return own
}

/** The compose file as people read it. */
export const composeText = () => readFileSync(COMPOSE, 'utf8')
