import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '@postern/testkit/temp-dir'
import { expect, test } from 'vitest'
import { findDebianMirrors } from './debian-mirrors.mjs'

const dir = tempDir()

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
