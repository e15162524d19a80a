import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EDGE_SETTINGS, parseSettings } from '@postern/contract/settings/settings'
import { tempDir } from '@postern/testkit/temp-dir'
import { expect, test } from 'vitest'
import { parseEnvironmentFile, renderEnvironmentFile, renderUnit, UNIT_FILES, UNITS } from './systemd.ts'

const ROOT = join(import.meta.dirname, '../../..')
const values = {
  NODE: process.execPath,
  ROOT,
  DATA_DIR: '/var/lib/postern',
  // On a machine with an installation this is a mount of the repository; here the repository itself.
  PROGRAM: ROOT,
  ENVIRONMENT: '/etc/postern/environment',
}
const template = (name: string) => readFileSync(join(ROOT, 'deploy/systemd', name), 'utf8')

test('systemd accepts the units as they are written', () => {
  const dir = tempDir()
  const files = UNIT_FILES.map((name) => join(dir, name))
  for (const name of UNIT_FILES) writeFileSync(join(dir, name), renderUnit(template(name), values))
  const { status, stdout, stderr } = spawnSync(
    'systemd-analyze',
    ['verify', '--recursive-errors=no', ...files],
    {
      encoding: 'utf8',
      timeout: 60_000,
    },
  )
  expect(stdout + stderr).toBe('')
  expect(status).toBe(0)
})

/** systemd's exposure score of a unit, from 0 (best) to 10; without these settings the edge has 9.8. */
test.each([
  ['postern-server.service', 13],
  ['postern-edge.service', 32],
  ['postern-haproxy.service', 32],
])('%s is confined as much as possible', (name, threshold) => {
  const dir = tempDir()
  const file = join(dir, name)
  writeFileSync(file, renderUnit(template(name), values))
  const args = ['security', '--offline=yes', `--threshold=${threshold}`, '--no-pager', file]
  const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8', timeout: 60_000 })
  expect(stdout + stderr).toContain(`Overall exposure level for ${name}`)
  expect(status, stdout).toBe(0)
})

test('the edge leaves its children alive, and the server runs without privileges', () => {
  const [server, edge] = UNITS.map((name) => renderUnit(template(name), values))
  expect(edge).toContain('\nKillMode=process\n')
  expect(edge).not.toMatch(/^User=/m)
  expect(server).toContain('\nUser=postern\n')
  expect(server).toContain('\nCapabilityBoundingSet=\n')
})

test("no unit's environment has a setting that its program does not need", () => {
  const [server, edge] = UNITS.map((name) =>
    /^UnsetEnvironment=(.*)$/m.exec(template(name))?.[1]?.split(' ').sort(),
  )
  const own = new Set<string>(EDGE_SETTINGS)
  expect(edge).toEqual(
    Object.keys(parseSettings({}))
      .filter((name) => !own.has(name))
      .sort(),
  )
  expect(server).toEqual(['POSTERN_ADMIN_PASSWORD'])
})

test('a path that a unit file would misread is refused', () => {
  expect(() => renderUnit('X=@ROOT@', { ROOT: '/home/a b' })).toThrow('plain path')
  expect(() => renderUnit('X=@ROOT@', { ROOT: '/home/%h' })).toThrow('plain path')
  expect(() => renderUnit('X=@OTHER@', {})).toThrow('@OTHER@')
})

test('values are read back as they were written', () => {
  const values = { POSTERN_ADMIN_USERNAME: 'an "odd" \\ name $HOME', POSTERN_HTTP_PORT: '8080' }
  expect(parseEnvironmentFile(renderEnvironmentFile(values))).toEqual(values)
})

test('lines written by a person are read, too', () => {
  const text = '# a comment\nPOSTERN_HTTP_PORT=8080\n\nPOSTERN_PUBLIC_HOST="a.example.com"\nnonsense\n'
  expect(parseEnvironmentFile(text)).toEqual({
    POSTERN_HTTP_PORT: '8080',
    POSTERN_PUBLIC_HOST: 'a.example.com',
  })
})

test('a line break cannot add a setting', () => {
  expect(() => renderEnvironmentFile({ A: 'x\nPOSTERN_HTTP_PORT=1' })).toThrow('A must be one line')
})
