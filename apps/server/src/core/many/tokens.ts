import type { ManyResult, ManyTokens } from '@postern/contract/services/many'
import type { Actor } from '../../changes/actor.ts'
import type { Context } from '../../context.ts'
import { ConflictError, NotFoundError } from '../errors.ts'
import {
  deleteToken,
  forgetWhatCame,
  listFilteredTokens,
  readTokens,
  requireTokenNode,
  writeRevoked,
} from '../nodes/tokens.ts'
import { type Gone, NOTHING_GONE } from '../publishing/publications.ts'
import { type Acted, changeMany, type ManyRecord, type Work } from './many.ts'

/** Of one node, which has a hundred at most. @throws NotFoundError, ConflictError for the local node */
export async function changeTokens(
  context: Context,
  actor: Actor,
  nodeId: number,
  form: ManyTokens,
): Promise<ManyResult> {
  const { action, forgetKey } = form
  await requireTokenNode(context.db, nodeId)
  const withdrawn: number[] = []
  const work: Work<ManyRecord, { search?: string | undefined }> = {
    noun: 'access token',
    done: action === 'revoke' ? 'revoked' : 'deleted',
    find: ({ search }, part) => listFilteredTokens(context, nodeId, { search, ...part }),
    async begin(tx, revision) {
      await requireTokenNode(tx, nodeId)
      const pats = new Map((await readTokens(context, tx, nodeId)).map((pat) => [pat.id, pat]))
      return {
        nameOf: (id) => pats.get(id)?.name,
        async act({ id, updated_at: seen }): Promise<Acted | undefined> {
          const pat = pats.get(id)
          if (!pat) throw new NotFoundError('Token')
          if (seen !== undefined && seen !== pat.updated_at)
            throw new ConflictError('Someone else changed this while you were editing', [], 'stale')
          if (action === 'revoke' && pat.revoked) return undefined
          const gone: Gone = forgetKey ? await forgetWhatCame(tx, pat, revision) : NOTHING_GONE
          withdrawn.push(...gone.services.map((service) => service.id))
          const updated_at = action === 'revoke' ? await writeRevoked(context, tx, pat) : null
          if (action === 'delete') await deleteToken(tx, id)
          return { updated_at, touched: { nodes: [nodeId], ...gone } }
        },
      }
    },
  }
  const result = await changeMany(context, actor, form, work)
  const ended = result.done.map(({ id }) => id)
  if (withdrawn.length > 0) await context.counts.remove(withdrawn)
  if (action === 'delete') context.tokenUses.remove(ended)
  for (const tokenId of ended) context.agents.endToken({ nodeId, tokenId })
  return result
}
