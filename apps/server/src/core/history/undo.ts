import type { WholeChange } from '@postern/contract/history/history'
import { sql } from 'kysely'
import type { Actor } from '../../changes/actor.ts'
import { relevantOf, type Undone, whyNotUndone } from '../../changes/undoable.ts'
import type { Context } from '../../context.ts'
import type { Access } from '../access/access.ts'
import { ConflictError, ForbiddenError, RequestError } from '../errors.ts'
import { changeNodes } from '../many/nodes.ts'
import { changeServices } from '../many/services.ts'
import { getChange, isGone } from './history.ts'
import { undoAlert, undoEdge, undoSetting, undoToken } from './undo-others.ts'
import { undoPerson } from './undo-people.ts'
import { undoDomain, undoNode, undoService } from './undo-records.ts'

/** Kinds that only administrators change. */
const OF_ADMINS: ReadonlySet<string> = new Set(['rule', 'channel', 'setting', 'person', 'edge'])

/**
 * Takes a change back, through the same doors as a form with the values of before: all rules are checked again.
 * @returns the revision of the change that does it
 * @throws NotFoundError; ForbiddenError for what this person may not change; ConflictError when it cannot be taken
 * back, or something of it has changed since, with the fields
 */
export async function undoChange(
  context: Context,
  actor: Actor,
  access: Access,
  revision: number,
): Promise<{ revision: number }> {
  const entry = await getChange(context, access, revision)
  await refuseForeign(context, access, entry)
  const { leftOut, ofActor, isWithout } = await readRest(context, revision)
  const why = whyNotUndone(ofActor, entry.records, leftOut, isWithout)
  if (why !== null) throw new ConflictError(why)
  const records = relevantOf(entry.records)
  const by: Actor = { ...actor, undoes: revision }
  if (records.length > 1 && records.every(({ after }) => after !== null))
    await switchBack(context, by, records)
  else await undoEach(context, by, records)
  await context.db.deleteFrom('pending_changes').where('revision', '=', revision).execute()
  return { revision: await findLast(context, revision) }
}

async function readRest({ db }: Context, revision: number) {
  const row = await db
    .selectFrom('changes')
    .select(['left_out', 'actor_kind', 'is_stripped', 'folded'])
    .where('revision', '=', revision)
    .executeTakeFirstOrThrow()
  // Of all of them: this person may see fewer.
  const { rows } = await sql<{ count: number }>`SELECT count(*) AS count FROM main.change_records
    WHERE revision = ${revision}`.execute(db)
  const count = rows[0]?.count ?? 0
  return { leftOut: row.left_out, ofActor: row.actor_kind, count, isWithout: isGone(row) }
}

async function findLast({ db }: Context, undoes: number): Promise<number> {
  const row = await db
    .selectFrom('changes')
    .select('revision')
    .where('undoes', '=', undoes)
    .orderBy('revision', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.revision ?? 0
}

/** @throws ForbiddenError for a change of what this person may not change */
export async function refuseForeign(
  context: Context,
  { role, reach }: Access,
  { revision, records }: Pick<WholeChange, 'revision' | 'records'>,
): Promise<void> {
  const { count } = await readRest(context, revision)
  const isAdmin = role === 'admin'
  // Domains are made for all, and a service must not move where this person sees nothing.
  const isBeyond = ({ kind, before, after }: (typeof records)[number]) =>
    kind === 'domain' ? before === null || after === null : before !== null && 'node' in (after ?? {})
  const isOwn = (record: (typeof records)[number]) => !reach || (isNear(record) && !isBeyond(record))
  const isNear = ({ kind, nodeId, domainId }: (typeof records)[number]) =>
    !reach ||
    (nodeId !== null && reach.nodes.includes(nodeId)) ||
    (kind === 'domain' && domainId !== null && reach.domains.includes(domainId))
  if (
    role !== 'viewer' &&
    (isAdmin || !(await isConsoles(context, records))) &&
    (isAdmin || !records.some(({ kind }) => OF_ADMINS.has(kind))) &&
    records.every(isOwn) &&
    count === records.length
  )
    return
  throw new ForbiddenError('This change is about more than you may change. Ask an administrator.', 'role')
}

/** The console's own service is how the installation is set up. */
async function isConsoles({ db }: Context, records: readonly Undone[]): Promise<boolean> {
  const ids = records.flatMap(({ kind, id }) => (kind === 'service' && id !== null ? [id] : []))
  const own = await db.selectFrom('services').select('id').where('system', '=', 1).execute()
  return own.some(({ id }) => ids.includes(id))
}

/** Many that were enabled or disabled, in one change again. */
async function switchBack(context: Context, actor: Actor, records: readonly Undone[]): Promise<void> {
  const action = records[0]?.after?.enabled === true ? 'disable' : 'enable'
  const chosen = {
    records: records.flatMap(({ id }) => (id === null ? [] : [{ id }])),
    after: 0,
    limit: records.length,
  }
  const change = records[0]?.kind === 'node' ? changeNodes : changeServices
  const { done, refused } = await change(context, actor, { action, ...chosen })
  const [first] = refused
  if (first && done.length > 0) throw notAll(first.message)
  if (done.length === 0)
    throw new ConflictError(first?.message ?? 'All of it is as it was before already.', [], 'stale')
}

/** One after the other: what came back stays if a later one cannot. */
async function undoEach(context: Context, actor: Actor, records: readonly Undone[]): Promise<void> {
  for (const [index, record] of records.entries())
    await undoOne(context, actor, record).catch((error: unknown) => {
      throw index > 0 && error instanceof RequestError ? notAll(error.message) : error
    })
}

const notAll = (why: string) => new ConflictError(`Not all of it could be taken back: ${why}`)

async function undoOne(context: Context, actor: Actor, record: Undone): Promise<void> {
  switch (record.kind) {
    case 'service':
      return await undoService(context, actor, record)
    case 'node':
      return await undoNode(context, actor, record)
    case 'domain':
      return await undoDomain(context, actor, record)
    case 'token':
      return await undoToken(context, actor, record)
    case 'person':
      return await undoPerson(context, actor, record)
    case 'edge':
      return await undoEdge(context, actor, record)
    case 'setting':
      return await undoSetting(context, actor, record)
    default:
      return await undoAlert(context, actor, record)
  }
}
