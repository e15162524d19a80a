import { PEOPLE_MESSAGES } from '@postern/contract/people/messages'
import type { Transaction } from 'kysely'
import type { Database } from '../../db/schema.ts'
import { ConflictError } from '../errors.ts'

/** Two names that differ only in case would be taken for one. @throws ConflictError */
export async function refuseTakenName(tx: Transaction<Database>, name: string, but?: number): Promise<void> {
  // SQLite folds ASCII only, and there are few people.
  const users = await tx.selectFrom('users').select(['id', 'username']).execute()
  const isTaken = users.some(({ id, username }) => id !== but && fold(username) === fold(name))
  if (isTaken)
    throw new ConflictError(PEOPLE_MESSAGES.nameTaken, [
      { field: 'username', message: PEOPLE_MESSAGES.nameTaken },
    ])
}

const fold = (name: string) => name.normalize('NFKC').toLowerCase()
