import { expect, test } from 'vitest'
import { SecretsError } from '../secrets/secrets.ts'
import { BackupError, describeFailure } from './words.ts'

const DIR = '/var/backups/postern'
const say = (error: object, isUnit = false) =>
  describeFailure(Object.assign(new Error('in its own words'), error), DIR, isUnit)

test('what the unit does not allow says which line allows it', () => {
  expect(say({ code: 'EROFS' }, true)).toBe(
    `The unit of the server may not write there. Add ReadWritePaths=${DIR} with systemctl edit postern-server, and start it again.`,
  )
  expect(say({ code: 'EACCES' }, true)).toContain('not be below /home or /root')
  expect(say({ code: 'ENOENT' }, true)).toContain('the unit of the server does not see')
})

test('without the unit nothing is said of it', () => {
  for (const code of ['EROFS', 'EACCES', 'EPERM', 'ENOENT', 'ENOTDIR', 'ENOSPC', 'EDQUOT'])
    expect(say({ code })).not.toMatch(/unit|ReadWritePaths|in its own words/)
})

test('a full disk is the same, whoever notices it', () => {
  const words = 'The disk of the directory is full. Make room there, or keep fewer copies.'
  expect(say({ code: 'ENOSPC' })).toBe(words)
  // SQLITE_FULL, and SQLITE_CORRUPT with the bits of its exact failure.
  expect(say({ errcode: 13 })).toBe(words)
  expect(say({ errcode: 11 | (2 << 8) })).toBe('The database is damaged. Restore the last copy.')
})

test('anything else is told as it is', () => {
  expect(say({ code: 'EIO' })).toBe('The copy could not be made: in its own words')
  expect(describeFailure(new BackupError('Do this.'), DIR, true)).toBe('Do this.')
  expect(describeFailure(new SecretsError('x'), DIR, true)).toContain('secret.key')
})
