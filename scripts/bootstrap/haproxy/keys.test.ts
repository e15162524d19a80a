import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { DEBIAN_13_KEYS } from './debian-13-keys.mjs'

const home = mkdtempSync(join(tmpdir(), 'debian-keys-'))
afterAll(() => rmSync(home, { recursive: true }))

test('the keys are Debian 13’s, by their fingerprints', () => {
  const file = join(home, 'keys.asc')
  writeFileSync(file, DEBIAN_13_KEYS)
  const { stdout } = spawnSync('gpg', ['--homedir', home, '--show-keys', '--with-colons', file], {
    encoding: 'utf8',
  })
  const lines = stdout.split('\n').map((line) => line.split(':'))
  // The first after a key is its own; its subkeys' follow.
  const keys = lines.flatMap(([kind], index) =>
    kind === 'pub' ? [lines.slice(index).find(([name]) => name === 'fpr')?.[9]] : [],
  )
  // As published by ftp-master.debian.org.
  expect(keys).toEqual([
    '04B54C3CDCA79751B16BC6B5225629DF75B188BD',
    '5E04A1E3223A19A20706E20F9904613D4CCE68C6',
    '41587F7DB8C774BCCF131416762F67A0B2C39DE4',
  ])
})
