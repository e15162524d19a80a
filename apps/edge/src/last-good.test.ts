import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { holdState, makeCertificate, makePortRoute, makeRoute, makeState } from '../test/factories.ts'
import { createLastGood } from './last-good.ts'

let dir: string
let file: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pte-'))
  file = `${dir}/state.json`
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const find = () => createLastGood(file).find()
const inodes = () =>
  new Map(
    readdirSync(`${dir}/state`).map((name) => [name.split('.')[0], statSync(`${dir}/state/${name}`).ino]),
  )
const state = makeState({
  routes: [makeRoute(3), makeRoute(300)],
  ports: [makePortRoute(4)],
  certificates: [makeCertificate(1)],
})

test('comes back as it was saved, readable by root only', async () => {
  const held = holdState(state)
  await createLastGood(file).save(held)
  expect(await find()).toEqual(held)
  const files = readdirSync(`${dir}/state`).map((name) => `state/${name}`)
  for (const name of ['state.json', ...files]) expect(statSync(`${dir}/${name}`).mode & 0o777).toBe(0o600)
  expect(statSync(`${dir}/state`).mode & 0o777).toBe(0o700)
})

test('only what changed is written, also in the next life, and nothing old is left', async () => {
  await createLastGood(file).save(holdState(state))
  const before = inodes()
  const next = createLastGood(file)
  const found = await next.find()
  const moved = { ...makeRoute(300), path: '/moved' }
  const changed = makeState({
    ...state,
    routes: [moved],
    hashes: { ...state.hashes, 'routes:0': 'r1', 'routes:1': 'r2' },
  })
  const routes = new Map(found?.sections.routes).set('routes:1', [moved])
  if (!found) throw new Error('nothing was found')
  await next.save({ ...found, hashes: changed.hashes, sections: { ...found.sections, routes } })
  const after = inodes()
  expect([...after.keys()].sort()).toEqual(['certificate-1', 'ports-0', 'routes-0', 'routes-1', 'settings'])
  expect([...after].filter(([name, ino]) => before.get(name) !== ino).map(([name]) => name)).toEqual([
    'routes-1',
  ])
  expect((await find())?.sections.routes.get('routes:1')).toEqual([moved])
})

test('is absent before the first one, and refused when damaged', async () => {
  expect(await find()).toBeUndefined()
  for (const text of [
    '{"revision":',
    '{}',
    '{"revision":1,"hashes":{},"files":{"routes:0":"../../etc/passwd"}}',
  ]) {
    writeFileSync(file, text)
    await expect(find()).rejects.toMatchObject({ code: 'state' })
  }
})

test.each(['taken away', 'cut short'])('is refused when one of its files was %s', async (how) => {
  await createLastGood(file).save(holdState(state))
  const name = `${dir}/state/${readdirSync(`${dir}/state`).find((each) => each.startsWith('routes-1.'))}`
  if (how === 'taken away') rmSync(name)
  else writeFileSync(name, readFileSync(name, 'utf8').replace('8080', '9090'))
  await expect(find()).rejects.toMatchObject({ code: 'state' })
})
