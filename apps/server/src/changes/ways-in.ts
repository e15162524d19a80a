import { isConsoleSetting, isSignInSetting } from '@postern/contract/settings/console-settings'
import type { Transaction } from 'kysely'
import type { Database } from '../db/schema.ts'
import type { Actor } from './actor.ts'
import type { ChangeRecord } from './records.ts'

type Changed = Pick<ChangeRecord, 'kind' | 'id' | 'name' | 'before' | 'after'>

/** Lists of a person of which only what comes to them opens something. */
const GRANTS: ReadonlySet<string> = new Set(['nodes', 'domains', 'signsInBy'])

/**
 * Whether a change lets others into the console, or into what asks for a sign-in, whichever endpoint made it. What takes
 * a way in away does not count, and neither does one's own account, which has rules of its own.
 * @param records what the change has done, with its rows still in the transaction
 */
export async function letsSomebodyIn(
  tx: Transaction<Database>,
  records: readonly Changed[],
  actor: Pick<Actor, 'id' | 'personId'>,
): Promise<boolean> {
  const channels = records.flatMap(({ kind, id, after }) => (kind === 'channel' && after ? (id ?? []) : []))
  return records.some((record) => isWayIn(record, actor)) || (await areForLinks(tx, channels))
}

function isWayIn({ kind, id, name, before, after }: Changed, actor: Pick<Actor, 'id' | 'personId'>): boolean {
  if (after === null) return false
  switch (kind) {
    case 'person':
      if (id === (actor.personId ?? actor.id)) return false
      return before === null || Object.entries(after).some(isOpening)
    case 'provider':
      return true
    case 'edge':
      // It gets the keys of what it serves.
      return before === null || after.servesConsole === true
    case 'setting':
      return (
        name === 'passwordRule' || name === 'formerHosts' || (isConsoleSetting(name) && isSignInSetting(name))
      )
    default:
      return false
  }
}

function isOpening([field, value]: [string, unknown]): boolean {
  if (field === 'isDisabled') return value === false
  return !GRANTS.has(field) || !Array.isArray(value) || value.length > 0
}

/** Links for new passwords go out by channels for e-mail. */
async function areForLinks(tx: Transaction<Database>, ids: readonly number[]): Promise<boolean> {
  if (ids.length === 0) return false
  const found = await tx
    .selectFrom('alert_channels')
    .select('id')
    .where('kind', '=', 'email')
    .where('id', 'in', ids)
    .executeTakeFirst()
  return found !== undefined
}
