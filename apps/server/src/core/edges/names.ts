import type { Problem } from '@postern/contract/edge/edge'
import { type Kysely, sql } from 'kysely'
import type { Database } from '../../db/schema.ts'

type Scope = Problem['scope']

/** The names of the things in these scopes: services, nodes and, for certificates, domains. */
export async function readNames(
  db: Kysely<Database>,
  scopes: readonly Scope[],
): Promise<(scope: Scope) => string | null> {
  const idsOf = (kind: Scope['kind']) => {
    const ids = scopes.flatMap((scope) => (scope.kind === kind && 'id' in scope ? [scope.id] : []))
    // A statement holds a limited number of values.
    return sql<number>`(SELECT value FROM json_each(${JSON.stringify(ids)}))`
  }
  if (scopes.every(({ kind }) => kind === 'edge')) return () => null
  const services = await db
    .selectFrom('services')
    .select(['id', 'name'])
    .where('id', 'in', idsOf('service'))
    .execute()
  const nodes = await db.selectFrom('nodes').select(['id', 'name']).where('id', 'in', idsOf('node')).execute()
  const certificates = await db
    .selectFrom('certificates')
    .innerJoin('domains', 'domains.id', 'certificates.domain_id')
    .select(['certificates.id', 'domain as name'])
    .where('certificates.id', 'in', idsOf('certificate'))
    .execute()
  const found = { service: services, node: nodes, certificate: certificates }
  const names = new Map(
    Object.entries(found).flatMap(([kind, rows]) => rows.map(({ id, name }) => [`${kind} ${id}`, name])),
  )
  return (scope) => ('id' in scope ? (names.get(`${scope.kind} ${scope.id}`) ?? null) : null)
}
