import { tempDir } from '@postern/testkit/temp-dir'
import { expect, test } from 'vitest'
import { checkHealth, readRole, runRole } from './container.ts'

const dir = tempDir()

const environment = { POSTERN_DATA_DIR: dir, POSTERN_HTTP_PORT: '1' }

test('a container without a command lists the commands', () => {
  expect(() => readRole('')).toThrow('"" is not server, edge')
  expect(readRole('edge')).toBe('edge')
})

test('where nothing runs, neither half is healthy', async () => {
  await expect(checkHealth('server', environment)).rejects.toThrow(/^the server does not answer: /)
  await expect(checkHealth('edge', environment)).rejects.toThrow('the edge does not answer')
})

test.each([
  ['server', 'server'],
  ['edge', 'edge'],
] as const)('the %s says who must own a volume that it cannot write to', async (role, part) => {
  const quiet = { say: () => undefined, warn: () => undefined }
  const run = runRole(role, environment, Promise.resolve(), quiet)
  await expect(run).rejects.toThrow(`${dir}/${part} cannot be written: leave it to a volume of Docker's own`)
})
