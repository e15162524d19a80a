import { codeOf, messageOf } from '@postern/host/errors'
import { SQLITE, sqliteCodeOf } from '../../db/sqlite-codes.ts'
import { SecretsError } from '../secrets/secrets.ts'

/** Why no copy was made; the message says what to do. */
export class BackupError extends Error {
  readonly code = 'backup'
}

/** Why no copy was made, in words. @param isUnit whether systemd keeps the server from most of the machine */
export function describeFailure(error: unknown, directory: string, isUnit: boolean): string {
  if (error instanceof BackupError) return error.message
  if (error instanceof SecretsError)
    return 'The file secret.key is not the key that the server runs with. Put the right one back.'
  const code = sqliteCodeOf(error)
  if (code === SQLITE.corrupt || code === SQLITE.notADatabase)
    return 'The database is damaged. Restore the last copy.'
  if (code === SQLITE.full) return NO_ROOM
  return describeCode(codeOf(error), directory, isUnit) ?? `The copy could not be made: ${messageOf(error)}`
}

const NO_ROOM = 'The disk of the directory is full. Make room there, or keep fewer copies.'

function describeCode(code: string, directory: string, isUnit: boolean): string | undefined {
  switch (code) {
    case 'EROFS':
      return isUnit
        ? `The unit of the server may not write there. Add ReadWritePaths=${directory} with systemctl edit postern-server, and start it again.`
        : 'The file system of the directory is read-only. Mount it so that the server may write there.'
    case 'EACCES':
    case 'EPERM':
      return isUnit
        ? 'The directory must belong to the user postern, and not be below /home or /root.'
        : 'The server may not write there. The directory must belong to the user that it runs as.'
    case 'ENOENT':
      return isUnit
        ? 'The directory above it does not exist, or is one that the unit of the server does not see. Make it, or choose another.'
        : 'The directory above it does not exist. Make it, or mount its disk.'
    case 'ENOTDIR':
      return 'It is not a directory. Choose another.'
    case 'ENOSPC':
    case 'EDQUOT':
      return NO_ROOM
    default:
      return undefined
  }
}
