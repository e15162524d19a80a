import { LIMITS } from '@postern/contract/limits'
import { INSTALLATION } from '../../changes/actor.ts'
import { change, updateStated } from '../../changes/change.ts'
import type { Context } from '../../context.ts'

/**
 * The node for this machine, with the console as its service, which exists from the first start. The console's port
 * follows the settings.
 */
export async function seedLocalNode(context: Context): Promise<void> {
  const local = await context.db.selectFrom('nodes').select('id').where('is_local', '=', 1).executeTakeFirst()
  if (local) await followConsolePort(context)
  else await createLocalNode(context)
}

async function createLocalNode(context: Context): Promise<void> {
  const now = new Date(context.clock()).toISOString()
  const times = { created_at: now, updated_at: now }
  await change(context, { actor: INSTALLATION, what: 'local node created' }, async (tx, revision) => {
    const { id: nodeId } = await tx
      .insertInto('nodes')
      .values({ ...LOCAL_NODE, revision, ...times })
      .returning('id')
      .executeTakeFirstOrThrow()
    const backend_port = context.config.settings.POSTERN_CONSOLE_PORT
    const { id } = await tx
      .insertInto('services')
      .values({ ...CONSOLE_SERVICE, node_id: nodeId, backend_port, revision, ...times })
      .returning('id')
      .executeTakeFirstOrThrow()
    return { value: undefined, touched: { nodes: [nodeId], services: [{ id, nodeId }] } }
  })
}

const LOCAL_NODE = {
  name: 'Local',
  name_folded: 'local',
  address: 'localhost',
  dns: null,
  keepalive: LIMITS.keepaliveSeconds,
  is_gateway: 0,
  gateway_networks: '[]',
  allow_internet: 0,
  advanced: 0,
  is_local: 1,
  enabled: 1,
} as const

const CONSOLE_SERVICE = {
  type: 'http',
  name: 'Console',
  name_folded: 'console',
  domain_id: null,
  path: '/',
  backend_proto: 'http',
  backend_host: '127.0.0.1',
  allowed_ips: '[]',
  blocked_ips: '[]',
  enabled: 1,
  system: 1,
} as const

async function followConsolePort(context: Context): Promise<void> {
  const port = context.config.settings.POSTERN_CONSOLE_PORT
  const service = await context.db
    .selectFrom('services')
    .select(['id', 'node_id', 'backend_port'])
    .where('system', '=', 1)
    .executeTakeFirst()
  if (!service || service.backend_port === port) return
  await change(context, { actor: INSTALLATION, what: 'console port changed' }, async (tx, revision) => {
    await updateStated(tx, 'services', service.id, revision, { backend_port: port })
    return { value: undefined, touched: { services: [{ id: service.id, nodeId: service.node_id }] } }
  })
}
