import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '@postern/testkit/temp-dir'
import { expect, test } from 'vitest'
import { writeOwnBundle } from './bundle.ts'

const dir = tempDir()

async function runBundled(source: string, ...flags: string[]) {
  writeFileSync(join(dir, 'main.ts'), source)
  await writeOwnBundle(join(dir, 'main.ts'), join(dir, 'dist/main.mjs'))
  return spawnSync(process.execPath, [...flags, join(dir, 'dist/main.mjs')], { encoding: 'utf8' })
}

test('every character stays the same, in a file that V8 keeps at one byte per character', async () => {
  const { stdout } = await runBundled(
    'const ümlaut: string = "…"; console.log(ümlaut, `→ 😀`, /^[–😀]$/u.test("😀"), /é/.test("é"))',
  )
  expect(stdout).toBe('… → 😀 true true\n')
  expect(readFileSync(join(dir, 'dist/main.mjs'), 'utf8')).toMatch(/^[\0-\x7f]*$/)
})

test('a stack names the functions, and with the map the lines of the sources too', async () => {
  const source = '\n\nfunction openTheDoor(): never { throw new Error("shut") }\nopenTheDoor()\n'
  expect((await runBundled(source)).stderr).toMatch(/Error: shut\n +at openTheDoor \(/)
  expect((await runBundled(source, '--enable-source-maps')).stderr).toMatch(
    /at openTheDoor \(.*main\.ts:3:\d+\)/,
  )
})

test('HTTP does not load what is behind fetch', async () => {
  const source = "import { request } from 'node:http'\nimport * as all from 'http'\n"
  const loaded = "process.moduleLoadList.filter((name) => name.includes('undici')).length"
  const { stdout } = await runBundled(
    `${source}console.log(typeof request, all.METHODS.length > 5, ${loaded})`,
  )
  expect(stdout).toBe('function true 0\n')
})
