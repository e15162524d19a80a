import { MESSAGES } from '@postern/contract/messages'
import { PEOPLE_MESSAGES } from '@postern/contract/people/messages'
import type { Transaction } from 'kysely'
import type { Database } from '../../db/schema.ts'
import { ConflictError, ValidationError } from '../errors.ts'
import { hasInvisible, isMixed, isReserved, skeletonOf } from './name-rules.ts'

/**
 * Of a person who gets this name. The one of before stays valid, whatever it is.
 * @param but the person who is to have it
 * @throws ValidationError, ConflictError when somebody else has one that looks like it
 */
export async function refuseName(tx: Transaction<Database>, name: string, but?: number): Promise<void> {
  if (await isHeldBy(tx, name, but)) return
  const fault = findNameFault(name)
  if (fault !== undefined) throw new ValidationError([{ field: 'username', message: fault }])
  if (await isNameTaken(tx, name, but))
    throw new ConflictError(PEOPLE_MESSAGES.nameTaken, [
      { field: 'username', message: PEOPLE_MESSAGES.nameTaken },
    ])
}

/** Why nobody should be called so, in words. */
export function findNameFault(name: string): string | undefined {
  if (hasInvisible(name)) return MESSAGES.controlCharacters
  if (isReserved(name)) return PEOPLE_MESSAGES.nameOfAProgram
  return isMixed(name) ? PEOPLE_MESSAGES.mixedScripts : undefined
}

/** Two names that look alike would be taken for one. */
export async function isNameTaken(tx: Transaction<Database>, name: string, but?: number): Promise<boolean> {
  // SQLite folds ASCII only, and there are few people.
  const users = await tx.selectFrom('users').select(['id', 'username']).execute()
  return users.some(({ id, username }) => id !== but && skeletonOf(username) === skeletonOf(name))
}

async function isHeldBy(tx: Transaction<Database>, name: string, id: number | undefined): Promise<boolean> {
  if (id === undefined) return false
  const user = await tx.selectFrom('users').select('username').where('id', '=', id).executeTakeFirst()
  return user?.username === name
}
