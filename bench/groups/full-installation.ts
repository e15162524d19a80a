import { mkdirSync, writeFileSync } from 'node:fs'
import type { CreatedNode } from '@postern/contract/nodes'
import { type Agent, agentOn } from '@postern/testkit/agent'
import { haproxyCommand } from '@postern/testkit/haproxy'
import { type Installation, startInstallation } from '@postern/testkit/installation'
import { type Lab, startLab } from '@postern/testkit/lab/network'
import { startListening } from '@postern/testkit/lab/upstreams'
import { until } from '@postern/testkit/until'
import type { Kysely } from 'kysely'
import { openDatabase } from '../../apps/server/src/db/open.ts'
import type { Database } from '../../apps/server/src/db/schema.ts'
import { seedNodes, seedServices } from '../seed.ts'

/** A real installation as `npm start` runs it, in namespaces of its own, with a node in its tunnel and a program on that node. */
export interface FullInstallation {
  lab: Lab
  installation: Installation
  node: CreatedNode
  agent: Agent
  /** The name of the routes that lead to the node's program. */
  domain: string
  /** Fills it with up to this many and waits until the edge has applied them. */
  grow(routes: number, certificates: number): Promise<void>
  /** Adds this many nodes that never connect, and waits until the edge has applied them. */
  addNodes(count: number): Promise<void>
  close(): Promise<void>
}

export const UPSTREAM_PORT = 8080
/** Published from the start. */
export const LOAD_PATH = '/load'
/**
 * The provider is never asked: sessions are made by hand. The load comes from one address, and is more than one
 * address may send.
 */
const SETTINGS = {
  POSTERN_CONNECTIONS_PER_SOURCE: '100000',
  POSTERN_OIDC_ISSUER: 'https://id.example.com',
  POSTERN_OIDC_CLIENT_ID: 'bench',
  POSTERN_OIDC_CLIENT_SECRET: 'bench',
}
const DOMAIN = 'bench.example.com'
/** Requests to the API at a time. */
const AT_ONCE = 8

export async function startFullInstallation(): Promise<FullInstallation> {
  const lab = await startLab()
  const installation = await startInstallation(lab, SETTINGS).catch(async (error: unknown) => {
    await lab.close()
    throw error
  })
  const close = async () => {
    await installation.close()
    await lab.close()
  }
  try {
    await startUpstream(lab, installation)
    const node = await installation.api.createNode({ name: 'bench' })
    const agent = agentOn(lab.site, installation)
    await agent.connect(node.token)
    await publishAndWait(installation, node.id, LOAD_PATH)
    const grow = createGrowth(installation, node.id)
    const addNodes = async (count: number) => {
      await inDatabase(installation, (db) => seedNodes(db, count))
      await publishAndWait(installation, node.id, '/beside-nodes')
    }
    return { lab, installation, node, agent, domain: DOMAIN, grow, addNodes, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** HAProxy, as a web program that costs next to nothing itself. */
async function startUpstream(lab: Lab, { dataDir }: Installation): Promise<void> {
  const dir = `${dataDir}/upstream`
  mkdirSync(dir)
  const lines = [
    'global\n  maxconn 1000',
    'defaults\n  mode http\n  timeout client 30s\n  timeout server 30s\n  timeout connect 5s',
    `listen upstream\n  bind :${UPSTREAM_PORT}\n  http-request return status 200 content-type text/plain string ok`,
  ]
  writeFileSync(`${dir}/haproxy.cfg`, `${lines.join('\n')}\n`)
  const command = ['haproxy', '-db', '-f', `${dir}/haproxy.cfg`]
  await startListening(lab.site, command, dir, 'upstream', UPSTREAM_PORT)
}

async function publishAndWait({ api }: Installation, nodeId: number, path: string): Promise<void> {
  const form = { name: path, domain: DOMAIN, pathLocation: path, backendPort: UPSTREAM_PORT }
  const service = await api.publish(nodeId, form)
  // The edge first checks thousands of new backends, 160 a second on one node.
  await until(`${path} to be live`, async () => (await api.getService(service)).state.phase === 'live', {
    timeoutMs: 240_000,
  })
}

function createGrowth(installation: Installation, nodeId: number): FullInstallation['grow'] {
  const domainIds: number[] = []
  let routes = 0
  return async (wantedRoutes, wantedCertificates) => {
    await createDomains(installation, domainIds, wantedCertificates)
    const from = routes
    const placeOf = (index: number) => ({
      nodeId,
      domainId: domainIds[index % domainIds.length] ?? null,
      path: `/p${from + index}`,
    })
    await inDatabase(installation, (db) => seedServices(db, wantedRoutes - from, placeOf))
    routes = wantedRoutes
    await publishAndWait(installation, nodeId, `/grown-to-${routes}`)
    await assertCarries(installation, routes)
  }
}

async function inDatabase(
  { paths }: Installation,
  write: (db: Kysely<Database>) => Promise<unknown>,
): Promise<void> {
  const db = openDatabase(paths.database)
  try {
    await write(db)
  } finally {
    await db.destroy()
  }
}

async function createDomains({ api }: Installation, ids: number[], wanted: number): Promise<void> {
  while (ids.length < wanted) {
    const from = ids.length
    const count = Math.min(AT_ONCE, wanted - from)
    const names = Array.from({ length: count }, (_, index) => `c${from + index}.example.com`)
    const made = await Promise.all(names.map((domain) => api.createDomain({ domain })))
    ids.push(...made.map(({ id }) => id))
  }
}

/** With fewer, the following measurements would mean nothing. */
async function assertCarries(installation: Installation, routes: number): Promise<void> {
  const map = await haproxyCommand(installation, `show map ${installation.paths.haproxyDir}/routes.map`)
  const carried = map.match(/\.example\.com\/p\d+\/ /g)?.length ?? 0
  if (carried !== routes) throw new Error(`HAProxy carries ${carried} routes and not ${routes}`)
}
