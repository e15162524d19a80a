import { type Kysely, sql } from 'kysely'
import type { Database } from '../../db/schema.ts'
import { quoted } from '../errors.ts'
import type { Access } from './access.ts'
import { visibleTo } from './visible.ts'

const QUOTED = /“([^”]*)”/g
const HIDDEN = 'something that you may not see'

/**
 * Texts for a limited person: the names of records in them that the person may not see are replaced.
 * @param typed what they sent, which they know
 */
export async function hideNames(
  db: Kysely<Database>,
  { reach }: Access,
  texts: readonly string[],
  typed: unknown = null,
): Promise<(text: string) => string> {
  const named = texts.flatMap((text) => [...text.matchAll(QUOTED)].flatMap(([, name]) => name ?? []))
  if (!reach || named.length === 0) return (text) => text
  const seen = await Promise.all(
    (['nodes', 'services'] as const).map((table) =>
      visibleTo(db.withoutPlugins(), reach)
        .selectFrom(table)
        .select('name')
        // As `quoted` writes them.
        .where(sql`replace(replace(name, '“', '"'), '”', '"')`, 'in', named)
        .execute(),
    ),
  )
  const own = JSON.stringify(typed)
  const known = new Set([
    ...seen.flat().map(({ name }) => quoted(name)),
    ...named.filter((name) => own.includes(JSON.stringify(name))).map(quoted),
  ])
  return (text) => text.replace(QUOTED, (found) => (known.has(found) ? found : HIDDEN))
}
