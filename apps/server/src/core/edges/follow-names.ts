import { FOUNDING_EDGE } from '@postern/net/tunnel-addresses'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { LiveBus } from '../../changes/live.ts'
import type { Database } from '../../db/schema.ts'

interface Parts {
  db: Kysely<Database>
  bus: LiveBus
  log: Logger
}

/** What people call the edges, where it is needed without asking the database. */
export interface EdgeNames {
  /** What an edge is called; one that has just connected by its id. */
  of(id: number): { name: string; number: number; isBeside: boolean; isDrained: boolean }
  /** Reads them again, and hints at edges where one is another. */
  read(): void
}

/** @param onRemoved called for each edge that was removed */
export function followNames({ db, bus, log }: Parts, onRemoved: (id: number) => void): EdgeNames {
  const known = new Map<number, { name: string; number: number; isDrained: boolean }>()
  const readAll = async () => {
    const rows = await db.selectFrom('edges').select(['id', 'name', 'number', 'is_drained']).execute()
    const before = JSON.stringify([...known])
    const gone = [...known.keys()].filter((id) => !rows.some((row) => row.id === id))
    for (const id of gone) known.delete(id)
    for (const { id, name, number, is_drained } of rows)
      known.set(id, { name, number, isDrained: is_drained === 1 })
    for (const id of gone) onRemoved(id)
    if (JSON.stringify([...known]) !== before) bus.emit({ kind: 'edges' })
  }
  const read = () => void readAll().catch((err: unknown) => log.error({ err }, 'the edges could not be read'))
  bus.listen((hint) => {
    if (hint.kind === 'changed' && hint.touched.edges) read()
  })
  return {
    of(id) {
      const found = known.get(id) ?? { name: `edge ${id}`, number: id, isDrained: false }
      return { ...found, isBeside: found.number === FOUNDING_EDGE }
    },
    read,
  }
}
