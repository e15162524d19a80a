import type { ActorKind } from '@postern/contract/history/history'
import type { Context } from '../../context.ts'
import { type Access, readReach } from '../access/access.ts'
import { RequestError } from '../errors.ts'
import { getProgram } from '../programs/check.ts'

/**
 * What the author of a change may do now.
 * @returns undefined for somebody who may do nothing any more
 */
export async function findAuthorsAccess(
  context: Context,
  { kind, id }: { kind: ActorKind | null; id: number | null },
): Promise<Access | undefined> {
  if (id === null) return undefined
  if (kind === 'token') return await findTokensAccess(context, id)
  const user = await context.db
    .selectFrom('users')
    .select(['role', 'is_limited'])
    .where('id', '=', id)
    .where('is_disabled', '=', 0)
    .executeTakeFirst()
  if (kind !== 'person' || !user) return undefined
  return { role: user.role, reach: await readReach(context.db, id, user) }
}

async function findTokensAccess(context: Context, id: number): Promise<Access | undefined> {
  try {
    const { role, reach } = await getProgram(context, id)
    return { role, reach, isProgram: true }
  } catch (error) {
    if (error instanceof RequestError) return undefined
    throw error
  }
}
