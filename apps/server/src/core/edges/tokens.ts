import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { FOUNDING_EDGE } from '@postern/net/tunnel-addresses'
import type { Context } from '../../context.ts'
import { hashToken, isSameHash } from '../secrets/secrets.ts'

/** The edge's token file is not usable; the message says what to do. */
export class EdgeTokenError extends Error {
  readonly code = 'edge_token'
}

/**
 * The edge on this machine signs in with the token in a file that both can read; created here when there is none.
 * @throws EdgeTokenError when the file is empty or too short.
 */
export async function registerLocalEdge(context: Context): Promise<void> {
  const file = context.config.paths.edgeToken
  if (!existsSync(file))
    writeFileSync(file, `${context.randomBytes(32).toString('base64url')}\n`, { mode: 0o640, flag: 'wx' })
  const token = readFileSync(file, 'utf8').trim()
  if (token.length < 32) throw new EdgeTokenError(`${file} holds no token: remove the file and start again`)
  const token_hash = hashToken(token)
  const now = new Date(context.clock()).toISOString()
  await context.db
    .insertInto('edges')
    .values({ name: 'Local', token_hash, created_at: now, updated_at: now, joined_at: now, is_console: 1 })
    .onConflict((conflict) => conflict.column('number').doUpdateSet({ token_hash }))
    .execute()
}

export async function findEdgeByToken(context: Context, token: string): Promise<{ id: number } | undefined> {
  const edges = await context.db
    .selectFrom('edges')
    .select(['id', 'token_hash'])
    .where('number', '=', FOUNDING_EDGE)
    .execute()
  const hash = hashToken(token)
  return edges.find((edge) => isSameHash(edge.token_hash, hash))
}
