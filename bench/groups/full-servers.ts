import { type Client, startTestServer, type TestServer } from '@postern/testkit/server'
import { PLACES } from '../../apps/server/src/core/secrets/secrets.ts'
import { seedDomains, seedNodes, seedServices } from '../seed.ts'
import { SIZES } from '../sizes.ts'

export interface FullServer {
  server: TestServer
  client: Client
  nodeIds: number[]
  /** A service like all others. */
  service: { id: number; nodeId: number }
}

/** Two real servers in this process, one with full and one with nearly empty tables. */
export interface FullServers {
  heavy: FullServer
  light: FullServer
  close(): Promise<void>
}

export async function startFullServers(): Promise<FullServers> {
  const heavy = await startFullServer(SIZES.nodes.heavy, SIZES.services.heavy)
  const light = await startFullServer(SIZES.nodes.light, SIZES.services.light)
  return {
    heavy,
    light,
    close: async () => void (await Promise.all([heavy.server.close(), light.server.close()])),
  }
}

async function startFullServer(nodes: number, services: number): Promise<FullServer> {
  const server = await startTestServer({ isMeasured: true })
  const { db, secrets } = server.context
  const nodeIds = await seedNodes(db, nodes)
  const seal = (domainId: number) => secrets.seal('key', PLACES.certificate(domainId))
  const domainIds = await seedDomains(db, services, seal)
  await seedServices(db, services, (index) => ({
    nodeId: nodeIds[index % nodes] ?? 1,
    domainId: domainIds[index] ?? null,
    path: '/',
  }))
  const row = await db
    .selectFrom('services')
    .select(['id', 'node_id'])
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
  return { server, client: await server.signIn(), nodeIds, service: { id: row.id, nodeId: row.node_id } }
}

/** @throws Error unless the API answers with success */
export async function mustGet({ client }: FullServer, path: string): Promise<unknown> {
  const answer = await client.get(path)
  if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${answer.body.slice(0, 200)}`)
  return answer.json()
}
