import { routesSectionOf } from '@postern/contract/desired-state'
import type { Kysely } from 'kysely'
import type { Database, ServiceRow } from '../db/schema.ts'
import { type RoutedNode, routedNodeOf, routeOf } from './desired-sections.ts'

/** The routes of all services as JSON texts, and what they were made from. */
export interface RouteTexts {
  /** The newest change that is in it. */
  revision: number
  nodes: Map<number, RoutedNode>
  domains: Map<number, string>
  /** Section → service → text. */
  texts: Map<string, Map<number, string>>
  /** The sections whose texts are not those of before. */
  changed: Set<string>
}

/** Which tables were written to since. */
export interface Written {
  nodes: boolean
  domains: boolean
}

export const NO_ROUTES: RouteTexts = {
  revision: -1,
  nodes: new Map(),
  domains: new Map(),
  texts: new Map(),
  changed: new Set(),
}

/** Makes the texts anew of services that changed since `made`, or whose node did; the others are kept. */
export async function updateRouteTexts(
  tx: Kysely<Database>,
  made: RouteTexts,
  revision: number,
  written: Written,
): Promise<RouteTexts> {
  const nodes = written.nodes ? await readNodes(tx) : made.nodes
  // The name of a domain never changes, so only new services can be about a new one.
  const domains = written.domains ? await readDomains(tx) : made.domains
  const texts = made === NO_ROUTES ? new Map() : made.texts
  const next: RouteTexts = { revision, nodes, domains, texts, changed: new Set() }
  addRows(next, await tx.selectFrom('services').selectAll().where('revision', '>', made.revision).execute())
  const moved = [...nodes].filter(([id, node]) => !isSame(made.nodes.get(id), node)).map(([id]) => id)
  if (made !== NO_ROUTES && moved.length > 0) addRows(next, await servicesOf(tx, moved))
  await dropDeleted(tx, next)
  return next
}

async function readNodes(tx: Kysely<Database>): Promise<Map<number, RoutedNode>> {
  const nodes = await tx
    .selectFrom('nodes')
    .select(['id', 'address', 'is_local', 'is_gateway', 'gateway_networks', 'enabled'])
    .execute()
  return new Map(nodes.map((node) => [node.id, routedNodeOf(node)]))
}

async function readDomains(tx: Kysely<Database>): Promise<Map<number, string>> {
  const rows = await tx.selectFrom('domains').select(['id', 'domain']).execute()
  return new Map(rows.map(({ id, domain }) => [id, domain]))
}

function isSame(a: RoutedNode | undefined, b: RoutedNode): boolean {
  return a !== undefined && JSON.stringify(a) === JSON.stringify(b)
}

/** More nodes than this at a time are looked for by reading all services. */
const MANY_NODES = 500

async function servicesOf(tx: Kysely<Database>, nodes: readonly number[]): Promise<ServiceRow[]> {
  const services = tx.selectFrom('services').selectAll()
  return await (nodes.length > MANY_NODES ? services : services.where('node_id', 'in', nodes)).execute()
}

async function dropDeleted(tx: Kysely<Database>, { texts, changed }: RouteTexts): Promise<void> {
  const { count } = await tx
    .selectFrom('services')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  const held = [...texts.values()].reduce((sum, { size }) => sum + size, 0)
  if (count === held) return
  const left = new Set((await tx.selectFrom('services').select('id').execute()).map(({ id }) => id))
  for (const [section, routes] of texts)
    for (const id of [...routes.keys()]) if (!left.has(id) && routes.delete(id)) changed.add(section)
}

function addRows({ nodes, domains, texts, changed }: RouteTexts, rows: readonly ServiceRow[]): void {
  for (const row of rows) {
    const node = nodes.get(row.node_id)
    if (!node) continue
    const domain = row.domain_id === null ? null : (domains.get(row.domain_id) ?? null)
    const section = routesSectionOf(row.id)
    const routes = texts.get(section) ?? new Map<number, string>()
    texts.set(section, routes.set(row.id, JSON.stringify(routeOf(row, node, domain))))
    changed.add(section)
  }
}
