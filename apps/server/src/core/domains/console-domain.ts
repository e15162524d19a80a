import type { Kysely } from 'kysely'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { ForbiddenError } from '../errors.ts'

/** Every password is typed there, so an administrator alone decides about the console's name. */
export async function refuseConsolesDomain(
  { access, config }: Pick<Context, 'access' | 'config'>,
  db: Kysely<Database>,
  { id, domain }: { id: number; domain: string },
): Promise<void> {
  if (access.role === 'admin') return
  const console = await db
    .selectFrom('services')
    .select('id')
    .where('domain_id', '=', id)
    .where('system', '=', 1)
    .executeTakeFirst()
  if (console || config.ownHosts.includes(domain))
    throw new ForbiddenError('Your role does not allow this. Ask an administrator.', 'role')
}
