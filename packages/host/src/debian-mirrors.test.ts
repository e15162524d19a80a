import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findDebianMirrors } from './debian-mirrors.mjs'

const dir = mkdtempSync(join(tmpdir(), 'debian-mirrors-'))
afterAll(() => rmSync(dir, { recursive: true }))

test('both forms of sources are read, and other archives are not Debian’s', () => {
  expect(findDebianMirrors(dir)).toBeUndefined()
  writeFileSync(join(dir, 'sources.list'), 'deb https://packages.example/apt stable main\n')
  expect(findDebianMirrors(dir)).toBeUndefined()
  mkdirSync(join(dir, 'sources.list.d'))
  writeFileSync(
    join(dir, 'sources.list.d/debian.sources'),
    'Types: deb\nURIs: http://mirror.example/debian\nSuites: bookworm\n',
  )
  writeFileSync(
    join(dir, 'sources.list.d/security.list'),
    'deb [arch=amd64] http://mirror.example/debian-security bookworm-security main\n',
  )
  expect(findDebianMirrors(dir)).toEqual({
    debian: 'http://mirror.example/debian',
    security: 'http://mirror.example/debian-security',
  })
})
