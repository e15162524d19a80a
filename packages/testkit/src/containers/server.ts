import { mkdirSync, readFileSync } from 'node:fs'
import { type Api, signIn } from '../api.ts'
import { isApplied } from '../installation.ts'
import { addNamespace, connect, type Namespace } from '../lab/namespace.ts'
import type { Lab } from '../lab/network.ts'
import { until } from '../until.ts'
import { buildImage } from './build-image.ts'
import { type ComposeFile, type ComposeService, readCompose } from './compose.ts'
import { type Container, startContainer } from './container.ts'
import { ROOT } from './store.ts'

/** Of people who have the clone: the services `server` and `edge`. */
const COMPOSE = `${ROOT}deploy/docker/compose.yaml`
const IMAGE = 'localhost/postern-server:test'

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
  /** Of the first account, as the log of the first start says. */
  password: string
  start(name: 'server' | 'edge', image?: string): Promise<void>
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
  const names = Object.entries(neighbours).map(([name, address]) => `${address} ${name}\n`)
  const hosts = `127.0.0.1 localhost\n${names.join('')}`
  const mounts = { server: `${dataDir}/server`, edge: `${dataDir}/edge`, run: `${dataDir}/run` }
  for (const path of Object.values(mounts)) mkdirSync(path)
  const begin = (name: 'server' | 'edge', from = IMAGE) =>
    startContainer({
      image: from,
      namespace: name === 'server' ? own : lab.server,
      service: serviceOf(compose, name),
      // The first of the lines that a person edits.
      env: { POSTERN_PUBLIC_HOST: lab.server.address },
      mounts,
      etc: { hosts },
    })
  const [server, edge] = await Promise.all([begin('server'), begin('edge')])
  const password = await until('the first password', () => /Password +(\S+)/.exec(server.logs())?.[1])
  const api = await signIn(`${mounts.run}/server.sock`, 'admin', password)
  const containers: ServerContainers = {
    compose,
    server,
    edge,
    dataDir,
    interface: 'postern0',
    api,
    password,
    async start(name, from) {
      containers[name] = await begin(name, from)
    },
    untilApplied: () => until('the edge to have applied what is wanted', () => isApplied(api)),
    async close() {
      await Promise.all(
        [containers.server, containers.edge].map((container) => container.isRunning() && container.stop()),
      )
      await own.remove()
    },
  }
  await containers.untilApplied()
  return containers
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
