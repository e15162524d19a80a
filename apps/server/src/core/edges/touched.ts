import type { BackendTrouble } from '@postern/contract/edge/edge'
import type { EdgeMessage, EdgeReport } from '@postern/contract/edge/edge-messages'
import type { Kysely } from 'kysely'
import { selectChangedServices } from '../../changes/changed-services.ts'
import type { ServiceRef } from '../../changes/live.ts'
import type { Database } from '../../db/schema.ts'
import type { EdgeView } from '../services/state.ts'

const PARTS = ['haproxy', 'wireguard', 'nftables'] as const
/** With more ids than this, all services are read, because a statement holds a limited number of values. */
const MANY = 5000

export async function listAll(db: Kysely<Database>): Promise<ServiceRef[]> {
  return await db.selectFrom('services').select(['id', 'node_id as nodeId']).execute()
}

export async function listByIds(db: Kysely<Database>, ids: readonly number[]): Promise<ServiceRef[]> {
  if (ids.length === 0) return []
  if (ids.length > MANY) return await listAll(db)
  return await db.selectFrom('services').select(['id', 'node_id as nodeId']).where('id', 'in', ids).execute()
}

/** The services whose state this report may have changed. */
export async function listTouched(
  db: Kysely<Database>,
  before: EdgeReport | null,
  after: EdgeReport,
): Promise<ServiceRef[]> {
  const isWhole =
    before === null || PARTS.some((part) => before.dataPlane[part].state !== after.dataPlane[part].state)
  const isMore = JSON.stringify(before?.problems) !== JSON.stringify(after.problems)
  if (isWhole || isMore) return await listAll(db)
  const moved = PARTS.flatMap((part) => {
    const [from, to] = [before.inForce[part], after.inForce[part]]
    return from === to ? [] : [from, to]
  })
  return moved.length === 0
    ? []
    : await selectChangedServices(db, Math.min(...moved), Math.max(...moved)).execute()
}

export function familiesOf({ ports }: EdgeReport): EdgeView['families'] {
  const of = (ids: readonly number[], family: 4 | 6) => ids.map((id) => [id, family] as const)
  return new Map([...of(ports?.ipv4Only ?? [], 4), ...of(ports?.ipv6Only ?? [], 6)])
}

export function listTurned(before: EdgeView['families'], after: EdgeView['families']): number[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((id) => before.get(id) !== after.get(id))
}

/** @returns the services whose state may have changed */
export function noteBackends(
  troubles: Map<number, BackendTrouble>,
  { isFirst, backends }: Extract<EdgeMessage, { type: 'backends' }>,
): number[] {
  const touched = backends.map(({ service }) => service)
  if (isFirst) {
    touched.push(...troubles.keys())
    troubles.clear()
  }
  for (const { service, trouble } of backends) {
    if (trouble) troubles.set(service, trouble)
    else troubles.delete(service)
  }
  return touched
}
