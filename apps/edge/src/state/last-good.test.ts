import { readFileSync, statSync, writeFileSync } from 'node:fs'
import type { Route } from '@postern/contract/edge/desired-state'
import { tempDir } from '@postern/testkit/temp-dir'
import { beforeEach, expect, test } from 'vitest'
import { holdState, makeCertificate, makePortRoute, makeRoute, makeState } from '../../test/factories.ts'
import type { HeldState } from './held-state.ts'
import { createLastGood } from './last-good.ts'

let dir: string
let file: string
beforeEach(() => {
  dir = tempDir()
  file = `${dir}/state.json`
})

const find = () => createLastGood(file).find()
const text = () => readFileSync(file, 'utf8')
const state = makeState({
  routes: [makeRoute(3), makeRoute(300), makeRoute(301)],
  ports: [makePortRoute(4)],
  certificates: [makeCertificate(1)],
})

test('comes back as it was saved, readable by root only', async () => {
  const held = holdState(state)
  await createLastGood(file).save(held)
  expect(await find()).toEqual(held)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('only what changed is added, also in the next run', async () => {
  await createLastGood(file).save(holdState(state))
  const before = text()
  const next = createLastGood(file)
  const found = await next.find()
  if (!found) throw new Error('nothing was found')
  await next.save(found)
  expect(text()).toBe(before)
  const moved = { ...makeRoute(300), path: '/moved' }
  await next.save(changedState(found, moved))
  expect(text().startsWith(before)).toBe(true)
  const added = text().slice(before.length)
  expect(added).toContain('/moved')
  for (const other of ['s3.example.com', 's301.example.com', 'certificate', 'settings'])
    expect(added).not.toContain(other)
  expect((await find())?.sections.routes.get('routes:1')).toEqual([moved, makeRoute(301)])
  expect((await find())?.sections.routes.get('routes:0')).toEqual([makeRoute(3)])
})

test('a section that is gone does not come back', async () => {
  const lastGood = createLastGood(file)
  const held = holdState(state)
  await lastGood.save(held)
  const { 'routes:1': _, ...hashes } = held.hashes
  const routes = new Map([...held.sections.routes].filter(([name]) => name !== 'routes:1'))
  await lastGood.save({ ...held, revision: 8, hashes, sections: { ...held.sections, routes } })
  expect(await find()).toMatchObject({ revision: 8, hashes, sections: { routes } })
})

test('a half-written change leaves the previous state, and the next one is whole', async () => {
  const lastGood = createLastGood(file)
  const held = holdState(state)
  await lastGood.save(held)
  const whole = text().length
  await lastGood.save(changedState(held, { ...makeRoute(300), path: '/moved' }))
  const all = text()
  for (const end of [whole + 1, whole + 40, all.length - 1]) {
    writeFileSync(file, all.slice(0, end))
    const next = createLastGood(file)
    expect(await next.find()).toEqual(held)
    const later = changedState(held, { ...makeRoute(300), path: '/later' })
    await next.save(later)
    expect(await find()).toEqual(later)
  }
})

test('the file does not grow without limit', async () => {
  const lastGood = createLastGood(file)
  let held = holdState(state)
  for (let i = 0; i < 15; i++) {
    held = changedState(held, { ...makeRoute(300), allowedIps: Array(10_000).fill(`192.0.2.${i}`) })
    await lastGood.save(held)
  }
  expect(text().length).toBeLessThan(1.5 * 1024 * 1024)
  expect(await find()).toEqual(held)
})

test('a removed row does not come back, and one between others comes back in its place', async () => {
  const lastGood = createLastGood(file)
  const held = holdState(state)
  const withSection = (revision: number, ...section: Route[]) => ({
    ...held,
    revision,
    sections: { ...held.sections, routes: new Map(held.sections.routes).set('routes:1', section) },
  })
  const [first, second, third] = [makeRoute(300), makeRoute(301), makeRoute(302)]
  for (const section of [
    [first, third],
    [first, second, third],
    [second, third],
  ]) {
    const next = withSection(held.revision + section.length + 1, ...section)
    await lastGood.save(next)
    expect((await find())?.sections.routes.get('routes:1') ?? []).toEqual(section)
  }
})

/** The state with another route in its second section. */
function changedState(held: HeldState, route: Route): HeldState {
  const revision = held.revision + 1
  const section = held.sections.routes.get('routes:1')?.map((each) => (each.id === route.id ? route : each))
  const routes = new Map(held.sections.routes).set('routes:1', section ?? [])
  const hashes = { ...held.hashes, 'routes:1': `r${revision}` }
  return { ...held, revision, hashes, sections: { ...held.sections, routes } }
}

test('is absent before the first one, and refused when damaged', async () => {
  expect(await find()).toBeUndefined()
  for (const damaged of ['', '{"revision":', '{}', '{}\n', ' \n']) {
    writeFileSync(file, damaged)
    await expect(find()).rejects.toMatchObject({ code: 'state' })
  }
})

test('is refused when something in it was altered', async () => {
  await createLastGood(file).save(holdState(state))
  writeFileSync(file, text().replace('8080', '9090'))
  await expect(find()).rejects.toMatchObject({ code: 'state' })
})
