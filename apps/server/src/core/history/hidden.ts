import type { Fields } from '@postern/contract/history/history'
import type { Kysely } from 'kysely'
import type { Database } from '../../db/schema.ts'
import type { Access } from '../access/access.ts'

interface Row {
  before: string | null
  after: string | null
}

/** Takes the names of nodes that a limited person does not see out of records, with what a moved service was there. */
export async function withoutHidden<R extends Row>(
  db: Kysely<Database>,
  { reach }: Access,
  rows: readonly R[],
): Promise<R[]> {
  if (!reach) return [...rows]
  const nodes = await db.selectFrom('nodes').select('name').where('id', 'in', reach.nodes).execute()
  const names = new Set(nodes.map(({ name }) => name))
  return rows.map((row) => {
    const isChanged = row.before !== null && row.after !== null
    const shown = (json: string | null) => json && withoutNode(json, names, isChanged)
    return { ...row, before: shown(row.before), after: shown(row.after) }
  })
}

function withoutNode(json: string, names: ReadonlySet<string>, isChanged: boolean): string {
  // Written by this server.
  const fields = JSON.parse(json) as Fields
  if (typeof fields.node !== 'string' || names.has(fields.node)) return json
  const blank = Object.keys(fields).map((field) => [field, null])
  return JSON.stringify(isChanged ? Object.fromEntries(blank) : { ...fields, node: null })
}
