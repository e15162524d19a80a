import type { Kysely } from 'kysely'
import type { Database } from '../../db/schema.ts'

/** A domain whose sign-in is on. */
export interface GuardedDomain {
  id: number
  domain: string
}

type Db = Kysely<Database>

const guarded = (db: Db) =>
  db.selectFrom('domains').select(['domains.id', 'domain']).where('authentication', '=', 1)

export function findGuarded(db: Db, host: string): Promise<GuardedDomain | undefined> {
  return guarded(db).where('domain', '=', host.toLowerCase()).executeTakeFirst()
}

export function findGuardedById(db: Db, id: number): Promise<GuardedDomain | undefined> {
  return guarded(db).where('domains.id', '=', id).executeTakeFirst()
}

/** The domain of the console, if the console requires sign-in. */
export function findConsoleDomain(db: Db): Promise<{ domain: string } | undefined> {
  return db
    .selectFrom('services')
    .innerJoin('domains', 'domains.id', 'services.domain_id')
    .select('domain')
    .where('system', '=', 1)
    .where('require_auth', '=', 1)
    .executeTakeFirst()
}

/** The list's entry that admits this address. */
export function findMember(db: Db, domain: number, email: string): Promise<{ id: number } | undefined> {
  return guarded(db)
    .innerJoin('domain_members', 'domain_members.domain_id', 'domains.id')
    .clearSelect()
    .select('domain_members.id')
    .where('domain_id', '=', domain)
    .where('email', '=', email)
    .executeTakeFirst()
}
