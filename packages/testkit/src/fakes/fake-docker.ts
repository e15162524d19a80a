import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

/** A container of the double, as in a compose file. */
export interface FakeContainer {
  name: string
  labels?: Record<string, string>
  /** The TCP ports that its image exposes. */
  ports?: number[]
  /** Its address in each network. */
  networks: Record<string, string>
}

/** The part of the Docker Engine's API (1.47) that reads containers and events, with its JSON, on a unix socket. */
export interface FakeDocker {
  path: string
  /** The running containers. `start` and `stop` change them and send events. */
  containers: Map<string, FakeContainer>
  start(container: FakeContainer): void
  stop(name: string): void
  /** Sends an event of that name, even without a change. */
  tell(action: string, name: string): void
  /** Ends the streams of events, as a restart of Docker does. */
  cutEvents(): void
  /** How many follow the events. */
  countFollowers(): number
  /** Each request, like `GET /v1.47/containers/json`. */
  asked: string[]
  /** Answers instead of the double until it is removed. */
  misbehave: ((request: IncomingMessage, response: ServerResponse) => void) | undefined
  close(): Promise<void>
}

const VERSION = { Version: '27.5.1', ApiVersion: '1.47', MinAPIVersion: '1.24', Os: 'linux', Arch: 'amd64' }

export async function startFakeDocker(path: string): Promise<FakeDocker> {
  const followers = new Set<ServerResponse>()
  const http = createServer((request, response) => {
    docker.asked.push(`${request.method} ${request.url?.replace(/\?.*/, '')}`)
    if (docker.misbehave) return docker.misbehave(request, response)
    answer(docker, followers, request, response)
  })
  const docker: FakeDocker = {
    path,
    containers: new Map(),
    asked: [],
    misbehave: undefined,
    start(container) {
      docker.containers.set(container.name, container)
      docker.tell('start', container.name)
    },
    stop(name) {
      docker.containers.delete(name)
      docker.tell('die', name)
    },
    tell(action, name) {
      for (const follower of followers) follower.write(`${JSON.stringify(eventOf(action, name))}\n`)
    },
    cutEvents() {
      for (const follower of followers) follower.destroy()
    },
    countFollowers: () => followers.size,
    async close() {
      http.close()
      http.closeAllConnections()
    },
  }
  http.listen(path)
  await once(http, 'listening')
  return docker
}

function answer(
  docker: FakeDocker,
  followers: Set<ServerResponse>,
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
): void {
  const path = new URL(url, 'http://docker').pathname.replace(/^\/v1\.\d+/, '')
  const rows = () => [...docker.containers.values()].map(rowOf)
  if (method !== 'GET') send(response, 405, { message: 'only reading is expected here' })
  else if (path === '/version') send(response, 200, VERSION)
  else if (path === '/containers/json') send(response, 200, rows())
  else if (path === '/events') follow(followers, response)
  else send(response, 404, { message: 'page not found' })
}

function follow(followers: Set<ServerResponse>, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.flushHeaders()
  followers.add(response)
  response.on('close', () => followers.delete(response))
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'api-version': VERSION.ApiVersion })
  response.end(`${JSON.stringify(body)}\n`)
}

const idOf = (name: string) => createHash('sha256').update(name).digest('hex')

function rowOf({ name, labels = {}, ports = [], networks }: FakeContainer) {
  const settings = Object.entries(networks).map(([network, address]) => [
    network,
    networkOf(network, address),
  ])
  return {
    Id: idOf(name),
    Names: [`/${name}`],
    Image: `${name}:latest`,
    ImageID: `sha256:${idOf(`${name}:latest`)}`,
    Command: '/run.sh',
    Created: 1_764_000_000,
    Ports: ports.map((port) => ({ PrivatePort: port, Type: 'tcp' })),
    Labels: labels,
    State: 'running',
    Status: 'Up 5 minutes',
    HostConfig: { NetworkMode: Object.keys(networks)[0] ?? 'none' },
    NetworkSettings: { Networks: Object.fromEntries(settings) },
    Mounts: [],
  }
}

/** As in a list, which lacks the names by which other containers find it. */
function networkOf(network: string, address: string) {
  return {
    IPAMConfig: null,
    Links: null,
    Aliases: null,
    MacAddress: '02:42:ac:12:00:03',
    DriverOpts: null,
    NetworkID: idOf(network),
    EndpointID: idOf(`${network} ${address}`),
    Gateway: address.replace(/\d+$/, '1'),
    IPAddress: address,
    IPPrefixLen: 16,
    IPv6Gateway: '',
    GlobalIPv6Address: '',
    GlobalIPv6PrefixLen: 0,
    DNSNames: null,
  }
}

function eventOf(action: string, name: string) {
  const id = idOf(name)
  const actor = { ID: id, Attributes: { image: `${name}:latest`, name } }
  const time = 1_764_000_100
  return {
    status: action,
    id,
    from: `${name}:latest`,
    Type: 'container',
    Action: action,
    Actor: actor,
    scope: 'local',
    time,
    timeNano: time * 1_000_000_000,
  }
}
