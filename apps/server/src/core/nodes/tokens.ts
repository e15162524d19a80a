import { LIMITS } from '@postern/contract/limits'
import type { Page } from '@postern/contract/lists'
import { MESSAGES } from '@postern/contract/messages'
import type { CreatedPat, Pat, PatEnd, PatForm, PatQuery } from '@postern/contract/pats'
import { TOKEN_PREFIXES } from '@postern/contract/tokens'
import type { Kysely, Transaction } from 'kysely'
import type { Actor } from '../../changes/actor.ts'
import { change, nextTime, updateStated } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { ConflictError, NotFoundError, ValidationError } from '../errors.ts'
import type { Patch } from '../patch.ts'
import { type Gone, NOTHING_GONE, withdrawAll } from '../publishing/publications.ts'
import { hashToken } from '../secrets/secrets.ts'
import { getNodeRow } from './records.ts'
import { refuseBeyondOwn } from './token-check.ts'

type Tx = Transaction<Database>

const DAY_MS = 86_400_000

/** Identifies a token: for another node it does not exist. */
export interface TokenKey {
  nodeId: number
  id: number
}

/**
 * Newest first unless ordered otherwise.
 * @throws NotFoundError, ConflictError for the local node
 */
export async function listTokens(
  context: Context,
  nodeId: number,
  query: PatQuery,
): Promise<Page<Pat> | Pat[]> {
  await requireTokenNode(context.db, nodeId)
  const text = query.search?.toLowerCase() ?? ''
  // A node has so few that they are filtered and sorted here, in Unicode, which SQLite does not support.
  const all = await readTokens(context, context.db, nodeId)
  const found = all.filter(({ name }) => name.toLowerCase().includes(text)).sort(comparisonFor(query.orderBy))
  const { page = 1, limit } = query
  if (limit === undefined) return found
  return { data: found.slice((page - 1) * limit, page * limit), page, limit, total: found.length }
}

function comparisonFor(order: PatQuery['orderBy']): (a: Pat, b: Pat) => number {
  const keyOf = ({ name, created_at }: Pat) => (order?.field === 'name' ? name.toLowerCase() : created_at)
  const sign = order?.direction === 'asc' ? 1 : -1
  const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
  return (a, b) => sign * (compare(keyOf(a), keyOf(b)) || a.id - b.id)
}

/** @returns the token with its value, which cannot be read again. @throws NotFoundError, ValidationError, ConflictError */
export async function createToken(
  context: Context,
  actor: Actor,
  nodeId: number,
  patch: Patch<PatForm>,
): Promise<CreatedPat> {
  const { values, errors } = patch.read({})
  const expireAt = values.expireAt === undefined ? null : settleExpiry(context, values.expireAt)
  if (expireAt === undefined)
    throw new ValidationError([...errors, { field: 'expireAt', message: MESSAGES.pastDate }])
  const { name } = patch.onto({})
  return await change(context, { actor, what: 'access token created' }, async (tx) => {
    await requireTokenNode(tx, nodeId)
    await refuseBeyondOwn(context, tx, nodeId)
    await requireRoom(tx, nodeId)
    const { id, token } = await insertToken(context, tx, nodeId, { name, expireAt })
    const value = { ...(await getToken(context, tx, { nodeId, id })), token }
    return { value, touched: { nodes: [nodeId] }, name }
  })
}

interface NewToken extends PatForm {
  /** The token that ends when this one is used. */
  replaces?: number
}

/** Also for the first token of a node, which is made together with it. */
export async function insertToken(
  context: Context,
  tx: Tx,
  nodeId: number,
  { name, expireAt, replaces }: NewToken,
) {
  const token = TOKEN_PREFIXES.node + context.randomBytes(32).toString('base64url')
  const now = new Date(context.clock()).toISOString()
  const { id } = await tx
    .insertInto('node_tokens')
    .values({
      node_id: nodeId,
      name,
      token_hash: hashToken(token),
      expire_at: expireAt,
      revoked: 0,
      replaces_id: replaces ?? null,
      created_at: now,
      updated_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { id, token }
}

/**
 * Some clients send a day as its local midnight: today's is in the past, and means the end of today.
 * @returns undefined for an earlier day
 */
export function settleExpiry({ clock }: Context, expireAt: string | null): string | null | undefined {
  if (expireAt === null) return null
  const [at, now] = [Date.parse(expireAt), clock()]
  if (at > now) return expireAt
  return now - at < DAY_MS ? new Date(at + DAY_MS).toISOString() : undefined
}

/** The token is refused from the next request on. @throws NotFoundError, ConflictError for the local node */
export async function revokeToken(context: Context, actor: Actor, key: TokenKey, end: PatEnd): Promise<Pat> {
  return await endToken(context, actor, key, end, 'revoked', async (tx, pat) => {
    await writeRevoked(context, tx, pat)
    return await getToken(context, tx, key)
  })
}

/** @returns when it was updated */
export async function writeRevoked(
  { clock }: Pick<Context, 'clock'>,
  tx: Tx,
  { id, updated_at }: Pat,
): Promise<string> {
  const time = nextTime(clock(), updated_at)
  await tx.updateTable('node_tokens').set({ revoked: 1, updated_at: time }).where('id', '=', id).execute()
  await endReplacement(tx, id)
  return time
}

/** @throws NotFoundError, ConflictError for the local node */
export async function removeToken(
  context: Context,
  actor: Actor,
  key: TokenKey,
  end: PatEnd,
): Promise<{ id: number }> {
  const gone = await endToken(context, actor, key, end, 'deleted', async (tx) => {
    await deleteToken(tx, key.id)
    return { id: key.id }
  })
  context.tokenUses.remove([gone.id])
  return gone
}

export async function deleteToken(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('node_tokens').where('id', '=', id).execute()
  await endReplacement(tx, id)
}

/** A token that was to replace this one replaces nothing any more. */
async function endReplacement(tx: Tx, id: number): Promise<void> {
  await tx.updateTable('node_tokens').set({ replaces_id: null }).where('replaces_id', '=', id).execute()
}

async function endToken<T>(
  context: Context,
  actor: Actor,
  key: TokenKey,
  { forgetKey }: PatEnd,
  what: string,
  work: (tx: Tx, pat: Pat) => Promise<T>,
): Promise<T> {
  const { nodeId, id } = key
  const gone: number[] = []
  const value = await change(context, { actor, what: `access token ${what}` }, async (tx, revision) => {
    await requireTokenNode(tx, nodeId)
    const pat = await getToken(context, tx, key)
    const withdrawn = forgetKey ? await forgetWhatCame(tx, pat, revision) : NOTHING_GONE
    gone.push(...withdrawn.services.map((service) => service.id))
    return { value: await work(tx, pat), touched: { nodes: [nodeId], ...withdrawn }, name: pat.name }
  })
  if (gone.length > 0) await context.counts.remove(gone)
  // The node's other connected agents report and publish again.
  context.agents.endToken({ nodeId, tokenId: id })
  return value
}

/** The key that came by a token goes, and what was last published with it. */
export async function forgetWhatCame(
  tx: Tx,
  { id, nodeId, broughtKey }: Pat,
  revision: number,
): Promise<Gone> {
  if (broughtKey) await forgetNodeKey(tx, nodeId, revision)
  return await withdrawAll(tx, nodeId, id)
}

/** The holder leaves the tunnel. An agent with a valid token registers its own key again by itself. */
async function forgetNodeKey(tx: Tx, nodeId: number, revision: number): Promise<void> {
  await updateStated(tx, 'nodes', nodeId, revision, { public_key: null, key_token_id: null })
}

export async function requireTokenNode(db: Kysely<Database>, id: number): Promise<void> {
  const { is_local } = await getNodeRow(db, id)
  if (is_local === 1)
    throw new ConflictError(
      'The local node is this server itself and needs no access tokens',
      [],
      'local_node',
    )
}

export async function requireRoom(tx: Tx, nodeId: number): Promise<void> {
  const held = await selectTokens(tx, nodeId).execute()
  if (held.length >= LIMITS.tokensPerNode)
    throw new ConflictError(
      `This node has ${held.length} access tokens, which is the limit. Delete old ones first.`,
    )
}

/** All of a node. */
export async function readTokens(
  context: Pick<Context, 'tokenUses'>,
  db: Kysely<Database>,
  nodeId: number,
): Promise<Pat[]> {
  return (await selectTokens(db, nodeId).execute()).map((row) => toPat(context, row))
}

export async function getToken(
  context: Pick<Context, 'tokenUses'>,
  db: Kysely<Database>,
  { nodeId, id }: TokenKey,
): Promise<Pat> {
  const row = await selectTokens(db, nodeId).where('node_tokens.id', '=', id).executeTakeFirst()
  if (!row) throw new NotFoundError('Token')
  return toPat(context, row)
}

/** The ids of what a search finds after one of them, in their order. */
export async function listFilteredTokens(
  context: Context,
  nodeId: number,
  { search = '', after, limit }: { search: string | undefined; after: number; limit: number },
): Promise<number[]> {
  const text = search.toLowerCase()
  const all = await readTokens(context, context.db, nodeId)
  const found = all.filter(({ id, name }) => id > after && name.toLowerCase().includes(text))
  const ids = found.map(({ id }) => id).sort((a, b) => a - b)
  return ids.slice(0, limit)
}

export async function listTokenIds(db: Kysely<Database>, nodeId: number): Promise<number[]> {
  const rows = await db.selectFrom('node_tokens').select('id').where('node_id', '=', nodeId).execute()
  return rows.map(({ id }) => id)
}

/** Never the hash. */
function selectTokens(db: Kysely<Database>, nodeId: number) {
  return db
    .selectFrom('node_tokens')
    .innerJoin('nodes', 'nodes.id', 'node_tokens.node_id')
    .select([
      'node_tokens.id',
      'node_id',
      'node_tokens.name',
      'expire_at',
      'revoked',
      'replaces_id',
      'key_token_id',
    ])
    .select(['node_tokens.created_at', 'node_tokens.updated_at'])
    .leftJoin(
      (published) =>
        published
          .selectFrom('publications')
          .select(({ fn }) => ['token_id', fn.count<number>('service_id').as('published')])
          .where('node_id', '=', nodeId)
          .groupBy('token_id')
          .as('of_token'),
      (join) => join.onRef('of_token.token_id', '=', 'node_tokens.id'),
    )
    .select(({ fn, val }) => fn.coalesce('published', val(0)).as('published'))
    .where('node_id', '=', nodeId)
}

type Row = Awaited<ReturnType<ReturnType<typeof selectTokens>['executeTakeFirstOrThrow']>>

function toPat(
  { tokenUses }: Pick<Context, 'tokenUses'>,
  { node_id, expire_at, revoked, replaces_id, key_token_id, ...rest }: Row,
): Pat {
  const broughtKey = key_token_id === rest.id
  const use = tokenUses.find(rest.id)
  const uses = { lastUsed: use?.at ?? null, lastUsedFrom: use?.from ?? null }
  const ends = { expireAt: expire_at, revoked: revoked === 1, replaces: replaces_id }
  return { ...rest, nodeId: node_id, ...ends, broughtKey, ...uses }
}
