import type { Transaction } from 'kysely'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { among } from '../overview/overview.ts'
import { readServices, toService } from '../services/records.ts'
import type { Finding, Findings, OpenAlert } from './sight.ts'

/** What is found, but not for long enough; and what is not found any more, but not for long enough. ms each. */
export interface Patience {
  foundSince: Map<string, { at: number; alert: OpenAlert }>
  goneSince: Map<string, number>
}

export const newPatience = (): Patience => ({ foundSince: new Map(), goneSince: new Map() })

/** Begun in one turn; the others come with the next. */
const MOST_BEGUN = 500
/** Something that comes and goes is not told as new each time. */
const GONE_MS = 60_000

export interface Turned {
  begun: readonly Begun[]
  /** Ids of alerts that have ended, and of those that nobody is to hear of any more. */
  ended: readonly number[]
  dropped: readonly number[]
}

interface Begun {
  finding: Finding
  since: number
}

export type OpenRow = OpenAlert & { id: number; rule_id: number }

/** Which alerts begin and end by what is found now. */
export function turn(
  { found, isKnown, isWatched }: Findings,
  open: readonly OpenRow[],
  patience: Patience,
  now: number,
): Turned {
  const known = new Set(open.map(({ key }) => key))
  const { foundSince, goneSince } = patience
  for (const [key, { alert }] of foundSince) if (!found.has(key) && isKnown(alert)) foundSince.delete(key)
  const begun = [...found.values()]
    .filter(({ key }) => !known.has(key))
    .map((finding): Begun => {
      const { key, rule, nodeId, serviceId } = finding
      const alert = { key, kind: rule.kind, node_id: nodeId ?? null, service_id: serviceId ?? null }
      return { finding, since: foundSince.getOrInsert(key, { at: now, alert }).at }
    })
    .filter(
      ({ finding, since }) => finding.isSustained || now - since >= (finding.rule.minutes ?? 0) * 60_000,
    )
    .slice(0, MOST_BEGUN)
  for (const { finding } of begun) foundSince.delete(finding.key)
  const dropped = open.filter((alert) => !isWatched(alert))
  const gone = open.filter((alert) => isWatched(alert) && !found.has(alert.key) && isKnown(alert))
  const goneKeys = new Set(gone.map(({ key }) => key))
  for (const key of goneSince.keys()) if (!goneKeys.has(key)) goneSince.delete(key)
  const ended = gone.filter(({ key }) => now - goneSince.getOrInsert(key, now) >= GONE_MS)
  for (const { key } of ended) goneSince.delete(key)
  return { begun, ended: ended.map(({ id }) => id), dropped: dropped.map(({ id }) => id) }
}

/** Writes what begins with the names that things have now. One that turns out to be well is left out. */
export async function writeTurn(
  context: Context,
  tx: Transaction<Database>,
  { begun, ended, dropped }: Turned,
  now: number,
): Promise<void> {
  const describe = await readNames(context, tx, begun)
  for (const { finding, since } of begun) {
    const about = describe(finding)
    if (!about) continue
    await tx
      .insertInto('alerts')
      .values({
        key: finding.key,
        rule_id: finding.rule.id,
        kind: finding.rule.kind,
        node_id: finding.nodeId ?? null,
        service_id: finding.serviceId ?? null,
        ...about,
        since,
      })
      .execute()
  }
  const end = (ids: readonly number[], is_over: 0 | 1) =>
    tx
      .updateTable('alerts')
      .set({ cleared_at: now, is_over })
      .where('id', 'in', among(ids))
      .where('cleared_at', 'is', null)
      .execute()
  if (ended.length > 0) await end(ended, 0)
  if (dropped.length > 0) await end(dropped, 1)
}

type About = { name: string; node_name: string | null; address: string | null; problem: string }

async function readNames(context: Context, tx: Transaction<Database>, begun: readonly Begun[]) {
  const idsOf = (key: 'nodeId' | 'serviceId') => begun.flatMap(({ finding }) => finding[key] ?? [])
  const nodes = await tx
    .selectFrom('nodes')
    .select(['id', 'name'])
    .where('id', 'in', among(idsOf('nodeId')))
    .execute()
  const nodeNames = new Map(nodes.map(({ id, name }) => [id, name]))
  const rows = await readServices(tx, idsOf('serviceId'))
  const services = new Map(rows.map((row) => [row.id, toService(context, row)]))
  return ({ nodeId, serviceId, name, problem, rule: { kind } }: Finding): About | undefined => {
    const service = services.get(serviceId ?? 0)
    const nodeName = nodeNames.get(nodeId ?? 0) ?? service?.nodeName ?? null
    if (kind === 'node-lost')
      return nodeName === null
        ? undefined
        : {
            name: nodeName,
            node_name: nodeName,
            address: null,
            problem: 'It does not answer through its tunnel.',
          }
    if (kind !== 'service-unanswered')
      return {
        name: name ?? '',
        node_name: nodeName,
        address: service?.publicAccess ?? null,
        problem: problem ?? '',
      }
    const { phase } = service?.state ?? {}
    if (!service || (phase !== 'unanswered' && phase !== 'failed')) return undefined
    const { name: own, publicAccess: address, state } = service
    return { name: own, node_name: nodeName, address, problem: state.problem ?? '' }
  }
}
