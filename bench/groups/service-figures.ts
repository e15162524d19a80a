import type { ServiceCount } from '@postern/contract/edge/edge-messages'
import { nodeKey } from '../../apps/server/src/core/figures/keys.ts'
import { pack } from '../../apps/server/src/core/figures/pack.ts'
import type { Measured } from '../figures.ts'
import { compareCosts } from '../measure.ts'
import type { Effort } from '../sizes.ts'
import { type FullServer, type FullServers, mustGet } from './full-servers.ts'

const HOUR_MS = 3_600_000
/** Services in a message, as many as the small installation has. */
const COUNTED = 100
const BATCH = 5000

/** The services' traffic figures: storing a minute and opening charts, with the history of many services and of few. */
export async function measureFigures(servers: FullServers, { rounds }: Effort): Promise<Measured[]> {
  const sides = { heavy: await asBusy(servers.heavy), light: await asBusy(servers.light) }
  const compare = (name: 'count' | 'look' | 'lookAtNode') =>
    compareCosts(rounds, { heavy: { run: sides.heavy[name] }, light: { run: sides.light[name] } })
  return [
    { name: 'figures: a minute comes in', unit: 'ms', ...(await compare('count')) },
    { name: 'figures: the month of a service', unit: 'ms', ...(await compare('look')) },
    { name: 'figures: the month of a node', unit: 'ms', ...(await compare('lookAtNode')) },
  ]
}

async function asBusy(full: FullServer) {
  const { db, counts, clock } = full.server.context
  const services = (await db.selectFrom('services').select('id').execute()).map(({ id }) => id)
  const nodes = await db.selectFrom('services').select('node_id').distinct().execute()
  await fill(full, [...services, ...nodes.map((row) => nodeKey(row.node_id))])
  const rows = services.slice(-COUNTED).map((id): ServiceCount => [id, 3, 2000, 40_000])
  let seq = 0
  const count = () => {
    const minute = Math.floor(clock() / 60_000)
    return counts.receive(1, { type: 'counts', ledger: 'bench', seq: ++seq, minute, counts: rows })
  }
  const look = () => mustGet(full, `/api/services/http/${full.service.id}/figures?span=month`)
  const lookAtNode = () => mustGet(full, `/api/nodes/${full.service.nodeId}/figures?span=month`)
  return { count, look, lookAtNode }
}

/** A day in minutes and a month in hours. */
async function fill({ server }: FullServer, services: readonly number[]): Promise<void> {
  const { liveDb, clock } = server.context
  const hour = Math.floor(clock() / HOUR_MS)
  const slots = (length: number) =>
    pack(new Map(Array.from({ length }, (_, slot) => [slot, [3, 2000 + slot, 40_000 - slot * slot]])))
  const [minutes, hours] = [slots(60), slots(24)]
  for (let start = 0; start < services.length; start += BATCH) {
    const some = services.slice(start, start + BATCH)
    for (let back = 1; back <= 24; back++)
      await liveDb
        .insertInto('minutes')
        .values(some.map((service) => ({ hour: hour - back, service, packed: minutes })))
        .execute()
    for (let back = 2; back <= 30; back++)
      await liveDb
        .insertInto('hours')
        .values(some.map((service) => ({ day: Math.floor(hour / 24) - back, service, packed: hours })))
        .execute()
  }
}
