import type { SignInOutcome, SignInQuery, SignInRecord } from '@postern/contract/domains'
import type { Page } from '@postern/contract/lists'
import type { Kysely } from 'kysely'
import type { Actor } from '../../changes/actor.ts'
import { change, nextTime, updateStated } from '../../changes/change.ts'
import type { LiveBus } from '../../changes/live.ts'
import type { Database } from '../../db/schema.ts'
import { type Asked, refuseConsolesDomain } from '../domains/console-domain.ts'
import { ConflictError, NotFoundError } from '../errors.ts'
import { listOrPage } from '../pages.ts'

const KEPT_MS = 30 * 86_400_000
/** How many are kept for each domain. */
const KEPT_ROWS = 1000

interface Came {
  domainId: number
  email: string
  /** The visitor's. */
  address: string
  outcome: SignInOutcome
}

/** Records a sign-in, and removes old ones. */
export async function recordSignIn(
  { db, clock }: { db: Kysely<Database>; clock(): number },
  { domainId, ...came }: Came,
): Promise<void> {
  const now = clock()
  await db.transaction().execute(async (tx) => {
    await tx
      .insertInto('sign_ins')
      .values({ domain_id: domainId, ...came, at: new Date(now).toISOString() })
      .execute()
    const all = tx.selectFrom('sign_ins').select('id').where('domain_id', '=', domainId)
    await tx
      .deleteFrom('sign_ins')
      .where('domain_id', '=', domainId)
      .where((eb) =>
        eb.or([
          eb('at', '<', new Date(now - KEPT_MS).toISOString()),
          eb('id', 'not in', all.orderBy('id', 'desc').limit(KEPT_ROWS)),
        ]),
      )
      .execute()
  })
}

interface Parts {
  db: Kysely<Database>
  bus: LiveBus
  clock(): number
}

/**
 * Newest first.
 * @throws NotFoundError
 */
export async function listSignIns(
  { db, clock }: Pick<Parts, 'db' | 'clock'>,
  domainId: number,
  query: SignInQuery,
): Promise<SignInRecord[] | Page<SignInRecord>> {
  const domain = await db.selectFrom('domains').select('id').where('id', '=', domainId).executeTakeFirst()
  if (!domain) throw new NotFoundError('Domain')
  const found = db
    .selectFrom('sign_ins')
    .where('domain_id', '=', domainId)
    .where('at', '>=', new Date(clock() - KEPT_MS).toISOString())
  return await listOrPage(query, found, async (slice) => {
    const sorted = found.select(['id', 'email', 'address', 'outcome', 'at']).orderBy('id', 'desc')
    return await (slice ? sorted.limit(slice.limit).offset(slice.offset) : sorted).execute()
  })
}

/**
 * Ends all sessions of a person at a domain by giving the entry a new id, which no session has.
 * @throws NotFoundError, ConflictError for an e-mail that is not on the list
 */
export async function endSessions(
  parts: Parts & Asked,
  actor: Actor,
  domainId: number,
  email: string,
): Promise<{ id: number }> {
  return await change(parts, { actor, what: 'sessions ended' }, async (tx, revision) => {
    const domain = await tx
      .selectFrom('domains')
      .select(['domain', 'updated_at'])
      .where('id', '=', domainId)
      .executeTakeFirst()
    if (!domain) throw new NotFoundError('Domain')
    await refuseConsolesDomain(parts, tx, { id: domainId, ...domain })
    const gone = await tx
      .deleteFrom('domain_members')
      .where('domain_id', '=', domainId)
      .where('email', '=', email)
      .returning('id')
      .executeTakeFirst()
    if (!gone)
      throw new ConflictError(`${email} is not on the list of this domain: there is no session to end`)
    await tx.insertInto('domain_members').values({ domain_id: domainId, email }).execute()
    const updated_at = nextTime(parts.clock(), domain.updated_at)
    await updateStated(tx, 'domains', domainId, revision, { updated_at })
    return { value: { id: domainId }, touched: { domains: [domainId] }, name: domain.domain }
  })
}
