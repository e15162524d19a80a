import type { LogStreamQuery } from '@postern/contract/logs'
import type { Kysely } from 'kysely'
import type { Database } from '../../db/schema.ts'
import { NotFoundError } from '../errors.ts'

/**
 * The services whose lines a log stream shows now.
 * @throws NotFoundError when the domain or service does not exist
 */
export async function listWatchedServices(db: Kysely<Database>, query: LogStreamQuery): Promise<number[]> {
  return 'domain' in query ? await listOfDomain(db, query.domain.toLowerCase()) : [await getId(db, query)]
}

type OfService = Extract<LogStreamQuery, { id: number }>

async function getId(db: Kysely<Database>, { type, id }: OfService): Promise<number> {
  const row = await db
    .selectFrom('services')
    .select('id')
    .where('type', '=', type)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) throw new NotFoundError('Service')
  return row.id
}

async function listOfDomain(db: Kysely<Database>, name: string): Promise<number[]> {
  const domain = await db.selectFrom('domains').select('id').where('domain', '=', name).executeTakeFirst()
  if (!domain) throw new NotFoundError('Domain')
  const rows = await db.selectFrom('services').select('id').where('domain_id', '=', domain.id).execute()
  return rows.map(({ id }) => id)
}
