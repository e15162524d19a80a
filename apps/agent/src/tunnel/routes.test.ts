import type { Exec } from '@postern/host/processes/exec'
import { expect, test } from 'vitest'
import { findForeignRoute } from './routes.ts'

/** What the machine has at each look; the last one stays. */
function findAmong(...looks: object[][]): Promise<string | undefined> {
  let look = 0
  const run: Exec['run'] = async (_program, args) => {
    const rows = looks[Math.min(look, looks.length - 1)] ?? []
    if (!args.includes('root')) look++
    return { code: 0, stdout: JSON.stringify(args.includes('root') ? [] : rows), stderr: '' }
  }
  const unused = () => {
    throw new Error('not used')
  }
  const exec: Exec = { run, startDetached: unused, stream: unused, readFile: unused }
  return findForeignRoute(exec, '10.64.0.0/16', ['postern0'])
}

const own = { dst: '10.64.0.0/16', dev: 'postern0' }
const gone = { dst: '10.64.0.0/16', dev: 'if42' }

test('another device counts, ours and default routes do not', async () => {
  expect(await findAmong([own, { dst: 'default', dev: 'eth0' }])).toBeUndefined()
  expect(await findAmong([own, { dst: '10.0.0.0/8', dev: 'eth0' }])).toBe('eth0')
  expect(await findAmong([{ dst: '10.0.0.0/8', type: 'unreachable', dev: 'lo' }])).toBeUndefined()
  expect(await findAmong([{ dst: '10.0.0.0/8' }])).toBe('several devices')
})

test('a device without a name is being deleted, or stays and counts', async () => {
  expect(await findAmong([gone], [gone], [])).toBeUndefined()
  expect(await findAmong([gone], [{ dst: '10.0.0.0/8', dev: 'eth0' }])).toBe('eth0')
  expect(await findAmong([gone])).toBe('if42')
})
