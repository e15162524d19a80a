import type { FieldError } from '@postern/contract/errors'
import { MESSAGES } from '@postern/contract/messages'
import { findIp } from '@postern/net/ip'
import type { Kysely } from 'kysely'
import type { Database } from '../../db/schema.ts'

/**
 * Browsers keep what was at a name, and go on sending there what was for it: a service worker would act in the console,
 * and a service would get the console's sessions and the tokens of agents. So no name goes from one to the other unasked.
 * The database notes each name that a service gets; the public host is in no table.
 */
export async function notePublicHost(db: Kysely<Database>, domain: string): Promise<void> {
  if (findIp(domain)) return
  await db
    .insertInto('used_names')
    .values({ domain, is_console: 1 })
    .onConflict((there) => there.doNothing())
    .execute()
}

/** What speaks against a name that the console, or a service, is to get. */
export async function findUsedName(
  db: Kysely<Database>,
  { domain, isConsole }: { domain: string; isConsole: boolean },
): Promise<FieldError[]> {
  const used = await db
    .selectFrom('used_names')
    .select('id')
    .where('domain', '=', domain)
    .where('is_console', '=', isConsole ? 0 : 1)
    .executeTakeFirst()
  const message = isConsole ? MESSAGES.namedServices : MESSAGES.namedConsole
  return used ? [{ field: 'domain', message }] : []
}
