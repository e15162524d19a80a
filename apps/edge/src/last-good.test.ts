import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StateAnswer } from '@postern/contract/desired-state'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeCertificate, makeRoute, makeState } from '../test/factories.ts'
import { findLastGood, mergeState, saveLastGood } from './last-good.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pte-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

test('comes back as it was saved, readable by root only', async () => {
  const state = makeState({ routes: [makeRoute(3)], certificates: [makeCertificate(1)] })
  await saveLastGood(`${dir}/state.json`, state)
  expect(await findLastGood(`${dir}/state.json`)).toEqual(state)
  expect(statSync(`${dir}/state.json`).mode & 0o777).toBe(0o600)
})

test('is absent before the first one, and refused when damaged', async () => {
  expect(await findLastGood(`${dir}/state.json`)).toBeUndefined()
  for (const text of ['{"revision":', '{}', '{"revision":1,"hashes":{},"routes":[{}]}']) {
    writeFileSync(`${dir}/state.json`, text)
    await expect(findLastGood(`${dir}/state.json`)).rejects.toMatchObject({ code: 'state' })
  }
})

test('keeps the sections that the server did not send, and drops the ones it no longer names', () => {
  const held = makeState({ routes: [makeRoute(3)], certificates: [makeCertificate(1), makeCertificate(2)] })
  const { settings, peers } = held.hashes
  const answer: StateAnswer = {
    revision: 8,
    hashes: {
      settings,
      peers,
      routes: 'new',
      'certificate:2': 'c2',
      'certificate:3': 'c3',
    } as StateAnswer['hashes'],
    sections: { routes: [makeRoute(4)], certificates: [makeCertificate(3)] },
  }
  const merged = mergeState(held, answer)
  expect(merged.revision).toBe(8)
  expect(merged.settings).toBe(held.settings)
  expect(merged.routes).toEqual([makeRoute(4)])
  expect(merged.certificates.map((certificate) => certificate.id)).toEqual([2, 3])
})

test('an answer that does not make a whole state is refused', () => {
  const held = makeState({ certificates: [makeCertificate(1)] })
  const same = { revision: 8, hashes: held.hashes, sections: { certificates: [] } }
  expect(mergeState(held, same)).toEqual({ ...held, revision: 8 })
  expect(() => mergeState(undefined, same)).toThrow('left out the section settings')
  const newer = { ...same, hashes: { ...held.hashes, routes: 'newer' } }
  expect(() => mergeState(held, newer)).toThrow('left out the section routes')
  const other = { ...same, hashes: { ...held.hashes, 'certificate:9': 'x' } }
  expect(() => mergeState(held, other)).toThrow('left out the section certificate:9')
  const { routes: _, ...unnamed } = held.hashes
  expect(() => mergeState(held, { ...same, hashes: unnamed })).toThrow('does not name the section routes')
})
