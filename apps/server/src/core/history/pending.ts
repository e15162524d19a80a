import type { PendingChange } from '@postern/contract/history/history'
import { LIMITS } from '@postern/contract/limits'
import { type Actor, INSTALLATION } from '../../changes/actor.ts'
import { change } from '../../changes/change.ts'
import { letsSomebodyIn } from '../../changes/ways-in.ts'
import type { Context } from '../../context.ts'
import type { Access } from '../access/access.ts'
import { hideNames } from '../access/hidden-names.ts'
import { ForbiddenError, NotFoundError, RequestError } from '../errors.ts'
import { findAuthorsAccess } from './author.ts'
import { conditionsOf } from './filter.ts'
import { getChange, readRecords, wordsFor } from './history.ts'
import { refuseForeign, undoChange } from './undo.ts'

/** Changes that wait for a person to keep them, as far as this one may see them; one's own first. */
export async function listPendingChanges(
  { db, clock }: Context,
  actor: Actor,
  access: Access,
): Promise<PendingChange[]> {
  const rows = await db
    .selectFrom('changes')
    .innerJoin('pending_changes', 'pending_changes.revision', 'changes.revision')
    .select(['changes.revision', 'what', 'name', 'actor', 'actor_kind', 'actor_id', 'due_at', 'problem'])
    .where((eb) => eb.and(conditionsOf(eb, access, {})))
    .orderBy((eb) => eb.and([eb('actor_kind', '=', actor.kind), eb('actor_id', '=', actor.id)]), 'desc')
    .orderBy('due_at')
    .orderBy('changes.revision')
    .limit(MOST_SHOWN)
    .execute()
  const hide = await hideNames(
    db,
    access,
    rows.flatMap(({ problem }) => problem ?? []),
  )
  const revisions = rows.map(({ revision }) => revision)
  const bounds = { filters: {}, most: LIMITS.listedRecords, longest: 0 }
  const records = await readRecords({ db }, access, revisions, bounds)
  return rows.map((row) => {
    const { revision, due_at, problem } = row
    const { what, name, actor } = access.reach
      ? wordsFor(access.reach, row, records.get(revision) ?? [])
      : row
    return {
      ...{ revision, what, name, actor, problem: problem && hide(problem) },
      dueAt: new Date(due_at).toISOString(),
      leftMs: Math.max(0, due_at - clock()),
    }
  })
}

const MOST_SHOWN = 20

/**
 * By its author, or somebody who may take it back.
 * @throws NotFoundError for one that is not pending, or may not be seen; ForbiddenError
 */
export async function keepChange(
  context: Context,
  actor: Actor,
  access: Access,
  revision: number,
): Promise<{ id: number }> {
  const entry = await getChange(context, access, revision)
  const { name, records } = entry
  if (entry.actor.kind !== actor.kind || entry.actor.id !== actor.id)
    await refuseForeign(context, access, entry)
  return await change(context, { actor, what: `kept revision ${revision}` }, async (tx) => {
    const gone = await tx.deleteFrom('pending_changes').where('revision', '=', revision).executeTakeFirst()
    if (gone.numDeletedRows === 0n) throw new NotFoundError('Change')
    if (await letsSomebodyIn(tx, records, actor)) await actor.requireRecent?.(tx)
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
    .innerJoin('changes', 'changes.revision', 'pending_changes.revision')
    .select(['changes.revision', 'actor_kind as kind', 'actor_id as id'])
    .where('due_at', '<=', context.clock())
    .where('problem', 'is', null)
    .orderBy('changes.revision', 'desc')
    .execute()
  for (const { revision, ...author } of due) {
    try {
      await takeBack(context, author, revision)
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

/** Somebody who has lost a right since does not get at it by waiting. */
async function takeBack(
  context: Context,
  author: Parameters<typeof findAuthorsAccess>[1],
  revision: number,
): Promise<void> {
  const access = await findAuthorsAccess(context, author)
  if (!access) throw new ForbiddenError(NOT_THEIRS, 'role')
  try {
    await undoChange({ ...context, access }, INSTALLATION, access, revision)
  } catch (error) {
    if (error instanceof NotFoundError || error instanceof ForbiddenError)
      throw new ForbiddenError(NOT_THEIRS, 'role')
    throw error
  }
}

const NOT_THEIRS = 'Its author may not take it back any more.'

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
