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
  const held = makeState({
    routes: [makeRoute(3), makeRoute(300), makeRoute(500)],
    certificates: [makeCertificate(1), makeCertificate(2)],
  })
  const { settings, peers } = held.hashes
  const answer: StateAnswer = {
    revision: 8,
    hashes: {
      settings,
      peers,
      'routes:0': 'new',
      'routes:1': 'r1',
      'certificate:2': 'c2',
      'certificate:3': 'c3',
    } as StateAnswer['hashes'],
    sections: { routes: [makeRoute(4), makeRoute(5)], certificates: [makeCertificate(3)] },
  }
  const merged = mergeState(held, answer)
  expect(merged.revision).toBe(8)
  expect(merged.settings).toBe(held.settings)
  expect(merged.routes.map(({ id }) => id)).toEqual([4, 5, 300])
  expect(merged.routes[2]).toBe(held.routes[1])
  expect(merged.certificates.map((certificate) => certificate.id)).toEqual([2, 3])
})

test('of what could not be read a certificate stays as it was, and a route is left out', () => {
  const held = makeState({ routes: [makeRoute(3)], certificates: [makeCertificate(1)] })
  const hashes = { ...held.hashes, 'routes:0': '', 'certificate:1': '' }
  const merged = mergeState(held, { revision: 8, hashes, sections: { routes: [], certificates: [] } })
  expect(merged).toMatchObject({ routes: [], certificates: [makeCertificate(1)] })
})

test('an answer that does not make a whole state is refused', () => {
  const held = makeState({ routes: [makeRoute(3)], certificates: [makeCertificate(1)] })
  const same = { revision: 8, hashes: held.hashes, sections: { routes: [], certificates: [] } }
  expect(mergeState(held, same)).toEqual({ ...held, revision: 8 })
  expect(() => mergeState(undefined, same)).toThrow('left out the section settings')
  const newer = { ...same, hashes: { ...held.hashes, 'routes:0': 'newer' } }
  expect(() => mergeState(held, newer)).toThrow('left out the section routes:0')
  const other = { ...same, hashes: { ...held.hashes, 'certificate:9': 'x' } }
  expect(() => mergeState(held, other)).toThrow('left out the section certificate:9')
  const { peers: _, ...unnamed } = held.hashes
  expect(() => mergeState(held, { ...same, hashes: unnamed })).toThrow('does not name the section peers')
  const stray = { ...same, sections: { routes: [makeRoute(201)], certificates: [] } }
  expect(() => mergeState(held, stray)).toThrow('does not name the section routes:1')
})
