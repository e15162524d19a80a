import type { Kysely } from 'kysely'
import type { ServerConfig } from '../../config.ts'
import type { Database } from '../../db/schema.ts'
import { type Access, isAdminInPerson, requireAdminInPerson } from '../access/access.ts'

/** What it asks about the person and the installation. */
export interface Asked {
  access: Access
  config: Pick<ServerConfig, 'ownHosts'>
}

/** Every password is typed there, so an administrator alone decides about the console's name. */
export async function refuseConsolesDomain(
  { access, config }: Asked,
  db: Kysely<Database>,
  { id, domain }: { id: number; domain: string },
): Promise<void> {
  if (isAdminInPerson(access)) return
  const console = await db
    .selectFrom('services')
    .select('id')
    .where('domain_id', '=', id)
    .where('system', '=', 1)
    .executeTakeFirst()
  if (console || config.ownHosts.includes(domain)) requireAdminInPerson(access)
}
