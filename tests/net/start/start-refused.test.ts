import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { describe, expect, test } from 'vitest'
import { PROGRAMS, ROOT, script, startStarterLab, untilRunning } from './starter-lab.ts'

const at = shared(startStarterLab)

describe('a start that is impossible says so in one line', () => {
  test.each([
    [{ POSTERN_HTTP_PORT: '99999' }, 'postern: POSTERN_HTTP_PORT must be a port from 1 to 65535\n'],
    [
      { POSTERN_DATA_DIR: 'here' },
      'postern: POSTERN_DATA_DIR must be an absolute path of at most 70 plain characters\n',
    ],
    [
      { POSTERN_HTTPS_PORT: '80' },
      'postern: POSTERN_HTTPS_PORT and POSTERN_HTTP_PORT are both 80: choose two ports\n',
    ],
  ])('%j', async (setting, line) => {
    expect(await at.finish(script('start'), setting)).toEqual({ code: 1, said: line })
  })

  test('a misspelt setting', async () => {
    const { code, said } = await at.finish(script('start'), { POSTERN_HTP_PORT: '80' })
    expect(said).toMatch(/^postern: POSTERN_HTP_PORT is not a setting\. [^\n]*\n$/)
    expect(code).toBe(1)
  })

  test('a port that another program holds', async () => {
    const other = at.begin([process.execPath, '-e', "require('node:net').createServer().listen(443)"])
    await until(
      'it to listen',
      async () => (await at.lab.server.run('ss', '-Hltn', 'sport = :443')).stdout !== '',
    )
    const { code, said } = await at.finish(script('start'))
    await other.stop()
    expect(said).toMatch(
      /^postern: port 443 is taken by .*node -e .* \(pid \d+\): stop it, or set POSTERN_HTTPS_PORT [^\n]*\n$/,
    )
    expect(code).toBe(1)
    expect(existsSync(at.paths.starterPid)).toBe(false)
  })

  test('a container without the right to change networks', async () => {
    const without = ['setpriv', '--inh-caps=-net_admin', '--bounding-set=-net_admin', '--']
    const { code, said } = await at.finish([...without, ...script('start')])
    expect(said).toMatch(/^postern: root has no CAP_NET_ADMIN here: [^\n]*\n$/)
    expect(code).toBe(1)
  })
})

describe('without root', () => {
  test('the server starts, and what is missing is reported', async () => {
    const home = mkdtempSync(join(at.dir, 'home-'))
    chownSync(home, 65534, 65534)
    const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--']
    const more = { HOME: home, POSTERN_DATA_DIR: '', POSTERN_CONSOLE_PORT: '3100' }
    const starter = at.begin([...nobody, ...script('start')], more)
    await untilRunning(starter)
    expect(starter.output()).toMatch(/Data plane +not running: .*need root.*sudo/)
    expect(starter.output()).not.toContain(at.lab.server.address)
    expect(existsSync(`${home}/.local/share/postern/server/postern.db`)).toBe(true)
    const health = await at.lab.server.must('curl', '-s', '-m', '3', 'http://127.0.0.1:3100/api/health')
    expect(health).toContain('ok')
    await starter.stop('SIGINT')
    expect(await starter.exited).toBe(0)
  })
})

describe('a clone in a closed home', () => {
  test('is mounted for the server, and for nobody else, at another place', async () => {
    const home = mkdtempSync(join(at.dir, 'closed-'))
    const clone = join(home, 'clone')
    mkdirSync(clone)
    // The repository is mounted as in a clone below /root: its files are readable, but their parent directory is
    // closed.
    const bind = `mount --bind "${ROOT}" "${clone}" && exec "$@"`
    const inClone = ['unshare', '--mount', '--propagation=private', 'sh', '-c', bind, 'sh']
    const more = { POSTERN_CONSOLE_PORT: '3200', POSTERN_DATA_DIR: join(at.dir, 'other') }
    const starter = at.begin([...inClone, process.execPath, join(clone, PROGRAMS.start)], more)
    await untilRunning(starter)
    const server = await at.childOf(starter, 'server')
    expect(readFileSync(`/proc/${server}/cmdline`, 'utf8')).toContain(
      join(at.dir, 'other/program/apps/server/dist/server.mjs'),
    )
    expect(readFileSync(`/proc/${server}/mountinfo`, 'utf8')).toMatch(
      new RegExp(`${at.dir}/other/program ro[, ]`),
    )
    expect(readFileSync(`/proc/${starter.pid}/mountinfo`, 'utf8')).not.toContain('other/program')
    expect(
      (await at.lab.server.must('curl', '-s', '-m', '3', 'http://127.0.0.1:3200/')).toLowerCase(),
    ).toContain('<!doctype html')
    await starter.stop('SIGINT')
    expect(await starter.exited).toBe(0)
    expect((await at.finish(script('stop'), more)).code).toBe(0)
  })
})
