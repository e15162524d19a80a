import { existsSync, writeFileSync } from 'node:fs'
import { beforeEach, expect, it } from 'vitest'
import { tempDir } from './temp-dir.ts'

const kept = tempDir()
const made: string[] = []
beforeEach(() => void made.push(tempDir()))

it.each([1, 2])('lives as long as what made it: test %i', (test) => {
  made.push(tempDir())
  writeFileSync(`${made.at(-1)}/full`, '')
  expect(made.map((dir) => existsSync(dir))).toEqual([...Array(2 * (test - 1)).fill(false), true, true])
  expect(existsSync(kept)).toBe(true)
})
