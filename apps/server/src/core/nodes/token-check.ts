import { TOKEN_PREFIXES } from '@postern/contract/tokens'
import type { Kysely } from 'kysely'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { ForbiddenError, UnauthenticatedError } from '../errors.ts'
import { hashToken } from '../secrets/secrets.ts'

/** The longest wait for an expiry: the machine may sleep, its clock may be set, and a timer of 25 days fires at once. */
const EXPIRY_CHECK_MS = 60_000

/** The fields of a token that decide whether it is valid. */
interface TokenState {
  revoked: number
  expire_at: string | null
}

export interface NodeToken {
  tokenId: number
  nodeId: number
}

/** A token that came with a request. */
export interface UsedToken extends NodeToken {
  /** What its node is called. */
  name: string
  /** It is used for the first time since it was made to replace another one. */
  isReplacement: boolean
}

export function isNodeToken(token: string): boolean {
  return token.startsWith(TOKEN_PREFIXES.node)
}

/** @throws ForbiddenError when the token is known, but revoked or expired. */
export async function findNodeByToken(context: Context, token: string): Promise<UsedToken | undefined> {
  if (!isNodeToken(token)) return undefined
  const row = await context.db
    .selectFrom('node_tokens')
    .innerJoin('nodes', 'nodes.id', 'node_tokens.node_id')
    .select(['node_tokens.id', 'node_id', 'revoked', 'expire_at', 'replaces_id', 'nodes.name'])
    .where('token_hash', '=', hashToken(token))
    .executeTakeFirst()
  if (!row) return undefined
  refuseEnded(context, row)
  const { id: tokenId, node_id: nodeId, name, replaces_id } = row
  return { tokenId, nodeId, name, isReplacement: replaces_id !== null }
}

/**
 * For slow work, during which the token may have ended.
 * @throws UnauthenticatedError, ForbiddenError
 */
export async function requireToken(
  context: Context,
  db: Kysely<Database>,
  { tokenId }: NodeToken,
): Promise<void> {
  const row = await db
    .selectFrom('node_tokens')
    .select(['revoked', 'expire_at'])
    .where('id', '=', tokenId)
    .executeTakeFirst()
  if (!row) throw new UnauthenticatedError('Unknown access token')
  refuseEnded(context, row)
}

/**
 * With a token of a node whose agent may publish, a limited person would publish at names that nobody gave them.
 * @throws ForbiddenError
 */
export async function refuseBeyondOwn(
  { access }: Context,
  db: Kysely<Database>,
  nodeId: number,
): Promise<void> {
  if (!access.reach) return
  const { agent_may_publish } = await db
    .selectFrom('nodes')
    .select('agent_may_publish')
    .where('id', '=', nodeId)
    .executeTakeFirstOrThrow()
  if (agent_may_publish === 1)
    throw new ForbiddenError(
      'The agent of this node may publish at any name, so an administrator makes its access tokens.',
      'role',
    )
}

function refuseEnded(context: Context, token: TokenState): void {
  if (token.revoked === 1) throw new ForbiddenError('This access token was revoked', 'token_revoked')
  if (msLeft(context, token) <= 0) throw new ForbiddenError('This access token has expired', 'token_expired')
}

function msLeft({ clock }: Context, { expire_at }: TokenState): number {
  return expire_at === null ? Number.POSITIVE_INFINITY : Date.parse(expire_at) - clock()
}

/**
 * Watches the token of a connection, so that the connection does not outlive it.
 * @param end called when the token ends, with the reason
 * @returns a function that stops watching
 */
export function watchToken(context: Context, token: NodeToken, end: (why: string) => void): () => void {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const look = async () => {
    const row = await context.db
      .selectFrom('node_tokens')
      .select(['revoked', 'expire_at'])
      .where('id', '=', token.tokenId)
      .executeTakeFirst()
    if (isStopped) return
    if (!row) return end('the access token was deleted')
    if (row.revoked === 1) return end('the access token was revoked')
    waitForExpiry(row)
  }
  const waitForExpiry = (row: TokenState) => {
    clearTimeout(timer)
    const left = msLeft(context, row)
    if (left <= 0) return end('the access token has expired')
    if (row.expire_at !== null) timer = setTimeout(() => waitForExpiry(row), Math.min(left, EXPIRY_CHECK_MS))
  }
  const lookOrLog = () =>
    void look().catch((err) => context.log.error({ err }, 'it is unknown whether a token is still valid'))
  const stopListening = context.bus.listen((hint) => {
    if (hint.kind === 'changed' && hint.touched.nodes?.includes(token.nodeId)) lookOrLog()
  })
  // It may have ended between the check of the request and this line.
  lookOrLog()
  return () => {
    isStopped = true
    stopListening()
    clearTimeout(timer)
  }
}
