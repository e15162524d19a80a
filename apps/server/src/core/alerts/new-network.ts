import { personOf } from '../../changes/actor.ts'
import { change } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import { tell } from './tell.ts'

/**
 * Puts it on record, and tells that an account signs in from where it never was, before it is in: whoever has stolen the password could delete
 * the channels sooner than the next look comes.
 */
export async function noteNewNetwork(
  { db, bus, clock, config, log }: Pick<Context, 'db' | 'bus' | 'clock' | 'config' | 'log'>,
  userId: number,
  address: string,
): Promise<void> {
  const now = clock()
  const { username } = await db
    .selectFrom('users')
    .select('username')
    .where('id', '=', userId)
    .executeTakeFirstOrThrow()
  const note = {
    actor: personOf({ id: userId, name: username }, address),
    what: 'signed in from a new network',
  }
  await change({ db, bus, clock }, note, async () => ({
    value: undefined,
    touched: {},
    name: `${username} (${address})`,
  }))
  const rule = await db
    .selectFrom('alert_rules')
    .select('id')
    .where('kind', '=', 'new-network')
    .where('enabled', '=', 1)
    .orderBy('id')
    .executeTakeFirst()
  if (!rule) return
  await db
    .insertInto('alerts')
    .values({
      ...{ key: `new-network:${userId}`, rule_id: rule.id, kind: 'new-network' as const },
      ...{ name: username, node_id: null, node_name: null, service_id: null, address: null },
      problem: `The sign-in to the console came from ${address}. If that was nobody you know, change the password.`,
      since: now,
      cleared_at: now,
    })
    .execute()
  await db
    .transaction()
    .execute((tx) => tell({ config, clock }, tx))
    // Nobody is kept out for it: the next look tells.
    .catch((err: unknown) => log.error({ err }, 'a sign-in from a new network could not be told at once'))
  bus.emit({ kind: 'alerts' })
}
