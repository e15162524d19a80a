import type { PendingChange } from '@postern/contract/history/history'
import { type Actor, INSTALLATION } from '../../changes/actor.ts'
import { change } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import { type Access, UNLIMITED } from '../access/access.ts'
import { NotFoundError, RequestError } from '../errors.ts'
import { conditionsOf } from './filter.ts'
import { getChange } from './history.ts'
import { undoChange } from './undo.ts'

/** Changes that wait for a person to keep them, as far as this one may see them. */
export async function listPendingChanges({ db, clock }: Context, access: Access): Promise<PendingChange[]> {
  const rows = await db
    .selectFrom('changes')
    .innerJoin('pending_changes', 'pending_changes.revision', 'changes.revision')
    .select(['changes.revision', 'what', 'name', 'actor', 'due_at', 'problem'])
    .where((eb) => eb.and(conditionsOf(eb, access, {})))
    .orderBy('due_at')
    .limit(20)
    .execute()
  return rows.map(({ due_at, ...row }) => ({
    ...row,
    dueAt: new Date(due_at).toISOString(),
    leftMs: Math.max(0, due_at - clock()),
  }))
}

/** @throws NotFoundError for one that is not pending, or may not be seen */
export async function keepChange(
  context: Context,
  actor: Actor,
  access: Access,
  revision: number,
): Promise<{ id: number }> {
  const { name, records } = await getChange(context, access, revision)
  return await change(context, { actor, what: `kept revision ${revision}` }, async (tx) => {
    const gone = await tx.deleteFrom('pending_changes').where('revision', '=', revision).executeTakeFirst()
    if (gone.numDeletedRows === 0n) throw new NotFoundError('Change')
    const nodes = records.flatMap(({ nodeId }) => nodeId ?? [])
    const domains = records.flatMap(({ domainId }) => domainId ?? [])
    return { value: { id: revision }, touched: { nodes, domains }, ...(name !== null && { name }) }
  })
}

/** Takes back what nobody has kept in time. One that cannot be taken back says so, and is not tried again. */
export async function takeBackDue(context: Context): Promise<void> {
  const { db, log } = context
  const due = await db
    .selectFrom('pending_changes')
    .select('revision')
    .where('due_at', '<=', context.clock())
    .where('problem', 'is', null)
    .orderBy('revision', 'desc')
    .execute()
  for (const { revision } of due) {
    try {
      await undoChange(context, INSTALLATION, UNLIMITED, revision)
      log.info({ revision }, 'a change that nobody kept was taken back')
    } catch (error) {
      const problem =
        error instanceof RequestError
          ? error.message
          : 'It could not be taken back: see the log of the server'
      log.error({ err: error, revision }, 'a change that nobody kept could not be taken back')
      await db.updateTable('pending_changes').set({ problem }).where('revision', '=', revision).execute()
    }
  }
}

/** In ms. */
const LOOK_EVERY = 1000

/** From now on; what came due while no server ran is taken back first. */
export async function startTakingBack(context: Context): Promise<void> {
  let isLooking = false
  const look = async () => {
    if (isLooking) return
    isLooking = true
    try {
      await takeBackDue(context)
    } catch (err) {
      context.log.error({ err }, 'changes could not be taken back')
    } finally {
      isLooking = false
    }
  }
  await look()
  const timer = setInterval(() => void look(), LOOK_EVERY).unref()
  context.onDispose(() => clearInterval(timer))
}
