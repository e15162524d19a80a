import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const MODULE = join(import.meta.dirname, 'own-environment.mjs')
const SCRIPT = `
import { readFileSync } from 'node:fs'
const { takeFromEnvironment } = await import(${JSON.stringify(MODULE)})
const value = takeFromEnvironment('SECRET')
const shown = readFileSync('/proc/self/environ', 'latin1').split('\\0').filter((pair) => /SECRET|BEFORE|AFTER/.test(pair))
console.log(JSON.stringify({ value, here: process.env.SECRET ?? null, shown }))
`

function take(env: Record<string, string>): unknown {
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', SCRIPT], {
    env,
    encoding: 'utf8',
    timeout: 60_000,
  })
  return JSON.parse(stdout)
}

test('what is taken is shown by /proc no more, and nothing else is touched', () => {
  const others = { BEFORE: 'a', NOT_SECRET: 'SECRET=b', SECRETS: 'c', AFTER: 'd' }
  const { BEFORE, NOT_SECRET, SECRETS, AFTER } = others
  expect(take({ BEFORE, NOT_SECRET, SECRET: 'a word=1', SECRETS, AFTER })).toEqual({
    value: 'a word=1',
    here: null,
    shown: ['BEFORE=a', 'NOT_SECRET=SECRET=b', 'SECRETS=c', 'AFTER=d'],
  })
})

test('a missing variable is not found', () => {
  expect(take({ AFTER: 'd' })).toEqual({ here: null, shown: ['AFTER=d'] })
})
