import { fileURLToPath } from 'node:url'
import { callApi } from '@postern/testkit/api'
import { startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { expect, test } from 'vitest'

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))
const [HOST, PATH] = ['203.0.113.1', '/api/auth/login']
const ACCOUNT = { username: 'admin', password: 'lab-password-1' }
const NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--no-new-privs']
const PROGRAM = fileURLToPath(
  new URL('../../../packages/testkit/src/programs/local-guesses.ts', import.meta.url),
)
/** More than wait in the server's line. */
const MANY = '60'

async function signInOutside(): Promise<number> {
  const args = ['-m', '20', '--json', JSON.stringify(ACCOUNT)]
  return (await visit(lab.visitor, `https://${HOST}${PATH}`, { args })).status
}

async function signInAtSocket(): Promise<number> {
  return (await callApi(installation.paths.consoleSocket, '', 'POST', PATH, ACCOUNT)).status
}

test.each(['HAProxy', 'port'])(
  'a local user who guesses from all of 127.0.0.0/8 by %s keeps nobody out',
  async (way) => {
    expect(await signInOutside()).toBe(200)
    const argv = [...NOBODY, process.execPath, PROGRAM, way, MANY, HOST]
    const attack = lab.server.start(argv, { logFile: `${installation.dataDir}/guesses-${way}.log` })
    await until('the attack', () => attack.output().split('\n').length > 4)
    for (let round = 0; round < 4; round++)
      expect([await signInOutside(), await signInAtSocket()]).toEqual([200, 200])
    const answered = JSON.parse(attack.output().trim().split('\n').at(-1) ?? '')
    await attack.stop()
    // One source has five guesses of a password; the two ways are the same.
    expect(answered['401'] ?? 0).toBeLessThanOrEqual(5)
  },
  120_000,
)
