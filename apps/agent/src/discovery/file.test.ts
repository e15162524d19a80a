import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, rmSync, writeFileSync } from 'node:fs'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { followFile, readOffers } from './file.ts'
import type { Offers } from './offer.ts'

let path: string
let directory: string
let stop: AbortController
beforeEach(() => {
  directory = tempDir()
  path = `${directory}/services.json`
  stop = new AbortController()
})
afterEach(() => stop.abort())

const HOME = { type: 'http', name: 'Home', domain: 'home.example.com', backendPort: 8123 }

test('the file is read when it changes; if it is missing or no list, the last one stays valid', async () => {
  const offers: Offers[] = []
  const failures: string[] = []
  const onOffers = (one: Offers) => offers.push(one)
  void followFile({ path, onOffers, onFailure: (problem) => failures.push(problem) }, stop.signal)
  await until('the failure', () => failures.length > 0)
  expect(failures[0]).toBe(`there is no file ${path}`)
  writeFileSync(path, JSON.stringify([HOME]))
  await until('the service', () => offers.at(-1)?.services.length === 1)
  writeFileSync(path, '[{')
  await until('the failure', () => failures.at(-1)?.includes('no list in JSON'))
  expect(offers).toHaveLength(1)
  writeFileSync(path, '[]')
  await until('the empty list', () => offers.at(-1)?.services.length === 0)
})

test("an entry has the API's fields", () => {
  const wiki = { ...HOME, key: 'wiki', pathLocation: '/wiki', stripPath: true }
  expect(readOffers(JSON.stringify([wiki]))).toEqual({ services: [wiki], problems: [] })
  expect(readOffers(JSON.stringify([{ ...wiki, stripPath: 'yes' }])).problems).toEqual([
    'entry 1 is not published: stripPath is missing or of the wrong type',
  ])
})

test('an agent that runs as root reads no list of another user, and does not wait for a FIFO', async () => {
  const failures: string[] = []
  const offers: Offers[] = []
  const onOffers = (one: Offers) => offers.push(one)
  void followFile({ path, onOffers, onFailure: (problem) => failures.push(problem) }, stop.signal)
  const refuses = (words: string) => until(words, () => failures.at(-1) === `${path}: ${words}`)
  writeFileSync(path, JSON.stringify([HOME]))
  chmodSync(path, 0o666)
  await refuses('it must belong to root and be writable by root only')
  chmodSync(path, 0o644)
  chownSync(path, 65534, 65534)
  failures.length = 0
  await refuses('it must belong to root and be writable by root only')
  rmSync(path)
  execFileSync('mkfifo', [path])
  await refuses('it is not a file')
  rmSync(path)
  writeFileSync(path, Buffer.alloc(1024 * 1024 + 1, ' '))
  await refuses('the file is larger than 1 MB')
  expect(offers).toEqual([])
})

test('a bad entry is named, and does not affect others', () => {
  const { services, problems } = readOffers(
    JSON.stringify([
      HOME,
      { ...HOME, backendPort: '80' },
      { ...HOME, requireAuth: false },
      7,
      { ...HOME, key: 'k' },
    ]),
  )
  expect(services).toEqual([
    { ...HOME, key: 'Home' },
    { ...HOME, key: 'k' },
  ])
  expect(problems).toEqual([
    'entry 2 is not published: backendPort is missing or of the wrong type',
    'entry 3 is not published: Unknown field requireAuth',
    'entry 4 is not published: it is missing or of the wrong type',
  ])
})

test('a name that cannot be a key is turned into one', () => {
  const list = [
    { ...HOME, name: 'Küche' },
    { ...HOME, key: 'ü' },
  ]
  const { services, problems } = readOffers(JSON.stringify(list))
  expect(services.map(({ key }) => key)).toEqual(['K%C3%BCche'])
  expect(problems).toEqual(['entry 2 is not published: its key must be printable ASCII'])
})

test('at most as many as the server accepts', () => {
  const { services, problems } = readOffers(JSON.stringify(Array.from({ length: 300 }, () => HOME)))
  expect(services).toHaveLength(200)
  expect(problems).toEqual(['only the first 200 entries are published'])
})
