import type { DomainForm } from '@postern/contract/domains'
import type { FieldError } from '@postern/contract/errors'
import { MESSAGES } from '@postern/contract/messages'
import { PEOPLE_MESSAGES } from '@postern/contract/people/messages'
import { type Kysely, sql, type Transaction } from 'kysely'
import { updateStated } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { ConflictError, quoteNames } from '../errors.ts'
import type { Readable } from '../patch.ts'

/** The edges that serve a domain: all, or those of its list. */

/** @returns the ids of the edges; null: all */
export function edgesOf({ edges }: { edges: string | null }): number[] | null {
  // Written by `edgesText`.
  return edges === null ? null : (JSON.parse(edges) as number[])
}

/** As the column has it: in one order, each once. */
export function edgesText(edges: readonly number[] | null): string | null {
  return edges && JSON.stringify([...new Set(edges)].sort((a, b) => a - b))
}

/** @param before of the domain as it is; undefined for a new one */
export async function findEdgesFault(
  { access }: Pick<Context, 'access'>,
  db: Kysely<Database>,
  { edges }: Readable<DomainForm>,
  before?: Pick<DomainForm, 'edges'>,
): Promise<FieldError[]> {
  if (edges === undefined || edgesText(edges) === edgesText(before?.edges ?? null)) return []
  // What is at an edge concerns everybody whose services are there.
  if (access.reach) return [{ field: 'edges', message: PEOPLE_MESSAGES.forAll }]
  const rows = await db.selectFrom('edges').select('id').execute()
  const known = new Set(rows.map(({ id }) => id))
  return (edges ?? []).flatMap((id, index) =>
    known.has(id) ? [] : [{ field: `edges.${index}`, message: MESSAGES.unknownEdge }],
  )
}

/**
 * Takes an edge out of all lists.
 * @returns the domains
 * @throws ConflictError that names the domains which no other edge serves
 */
export async function leaveEdge(
  tx: Transaction<Database>,
  edgeId: number,
  revision: number,
): Promise<number[]> {
  const rows = await tx
    .selectFrom('domains')
    .select(['id', 'domain', 'edges'])
    .where(sql<boolean>`EXISTS (SELECT 1 FROM json_each(domains.edges) WHERE value = ${edgeId})`)
    .orderBy('domain')
    .execute()
  const left = rows.map((row) => ({ ...row, others: (edgesOf(row) ?? []).filter((id) => id !== edgeId) }))
  const lost = left.filter(({ others }) => others.length === 0)
  if (lost.length > 0)
    throw new ConflictError(
      `No other edge serves ${quoteNames(lost.map(({ domain }) => domain))}. Choose other edges for it first.`,
      [],
      'in_use',
    )
  for (const { id, others } of left)
    await updateStated(tx, 'domains', id, revision, { edges: edgesText(others) })
  return left.map(({ id }) => id)
}
