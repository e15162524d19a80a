import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { LiveDatabase } from '../../db/live-schema.ts'
import type { Database } from '../../db/schema.ts'

/** How often uses are written to the file; a crash loses at most these. */
const SAVE_EVERY_MS = 60_000

/** The last use of a token. */
export interface TokenUse {
  /** In ms since the epoch. */
  at: number
  /** The IP address that the request came from; null where that is not known. */
  from: string | null
}

/**
 * When and from where each token of a kind was last used, in memory; saved from time to time, so that it survives a
 * restart.
 */
export interface TokenUses {
  /** A request came with the token. */
  recordUse(tokenId: number, from: string | null): void
  /**
   * The agent whose request was noted stays connected.
   * @returns a function to call when it is gone
   */
  hold(tokenId: number): () => void
  /** Null if it was never used. */
  find(tokenId: number): TokenUse | null
  /** Forgets deleted tokens. */
  remove(tokenIds: readonly number[]): void
  /** Writes new uses to the file. */
  save(): Promise<void>
  close(): Promise<void>
}

interface Parts {
  db: Kysely<Database>
  liveDb: Kysely<LiveDatabase>
  log: Logger
  clock(): number
}

/** Where the tokens of a kind are, and in the file of figures their uses. */
export interface TokenKind {
  tokens: 'node_tokens' | 'api_tokens'
  uses: 'token_uses' | 'api_token_uses'
}

export async function createTokenUses(
  { db, liveDb, log, clock }: Parts,
  kind: TokenKind,
): Promise<TokenUses> {
  const known = await load(db, liveDb, kind)
  const unsaved = new Set<number>()
  const connections = createCounter()

  const recordUse = (tokenId: number, from: string | null) => {
    known.set(tokenId, { at: clock(), from })
    unsaved.add(tokenId)
  }
  /** The agent of a deleted token may be connected for a moment longer. */
  const renewUse = (tokenId: number) => {
    const use = known.get(tokenId)
    if (use) recordUse(tokenId, use.from)
  }
  const save = async () => {
    for (const tokenId of connections.keys()) renewUse(tokenId)
    const ids = [...unsaved]
    unsaved.clear()
    await saveUses(liveDb, kind, ids, known)
  }
  const saving = setInterval(() => {
    save().catch((err: unknown) => log.warn({ err }, 'the last uses of access tokens could not be saved'))
  }, SAVE_EVERY_MS).unref()

  return {
    recordUse,
    hold(tokenId) {
      renewUse(tokenId)
      connections.add(tokenId, 1)
      return () => {
        renewUse(tokenId)
        connections.add(tokenId, -1)
      }
    },
    find(tokenId) {
      const use = known.get(tokenId)
      if (!use) return null
      return connections.has(tokenId) ? { ...use, at: clock() } : use
    },
    remove(tokenIds) {
      for (const tokenId of tokenIds) if (known.delete(tokenId)) unsaved.add(tokenId)
    },
    save,
    async close() {
      clearInterval(saving)
      await save()
    },
  }
}

/** Counts by value; values without any are absent. */
function createCounter() {
  const counts = new Map<number, number>()
  return {
    add(id: number, change: 1 | -1) {
      const left = (counts.get(id) ?? 0) + change
      if (left > 0) counts.set(id, left)
      else counts.delete(id)
    },
    has: (id: number) => counts.has(id),
    keys: () => counts.keys(),
  }
}

/** Uses of tokens that were deleted after the last save are dropped. Ids are never used again. */
async function load(
  db: Kysely<Database>,
  liveDb: Kysely<LiveDatabase>,
  kind: TokenKind,
): Promise<Map<number, TokenUse>> {
  const tokens = await db.selectFrom(kind.tokens).select('id').execute()
  const existing = new Set(tokens.map(({ id }) => id))
  const rows = await liveDb.selectFrom(kind.uses).selectAll().execute()
  const uses = new Map(
    rows
      .filter((row) => existing.has(row.token_id))
      .map((row) => [row.token_id, { at: row.used_at, from: row.used_from }]),
  )
  const gone = rows.map((row) => row.token_id).filter((id) => !existing.has(id))
  await saveUses(liveDb, kind, gone, uses)
  return uses
}

/** A token without a use loses its row. */
async function saveUses(
  liveDb: Kysely<LiveDatabase>,
  { uses: table }: TokenKind,
  ids: readonly number[],
  uses: ReadonlyMap<number, TokenUse>,
): Promise<void> {
  if (ids.length === 0) return
  await liveDb.transaction().execute(async (tx) => {
    for (const id of ids) {
      const use = uses.get(id)
      if (!use) {
        await tx.deleteFrom(table).where('token_id', '=', id).execute()
        continue
      }
      const values = { used_at: use.at, used_from: use.from }
      await tx
        .insertInto(table)
        .values({ token_id: id, ...values })
        .onConflict((conflict) => conflict.column('token_id').doUpdateSet(values))
        .execute()
    }
  })
}
