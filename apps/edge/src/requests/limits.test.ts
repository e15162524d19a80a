import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseEdgeSettings } from '@postern/contract/settings/settings'
import { createExec } from '@postern/host/processes/exec'
import { makeKept } from '@postern/testkit/kept-requests'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import { keptRequestsOf } from '../kept-requests.ts'
import { createRequests, type Requests } from './requests.ts'

const DAY = 86_400_000
const SAID = { days: 3, megabytes: 128, hasQueries: true }
const ownOf = (given: Record<string, string>) => ({ settings: parseEdgeSettings(given), given })

test('what the server says counts, except what the environment of the edge says', () => {
  expect(keptRequestsOf(ownOf({}), SAID)).toEqual(SAID)
  expect(keptRequestsOf(ownOf({}), undefined)).toEqual({ days: 7, megabytes: 1024, hasQueries: false })
  const given = { POSTERN_REQUESTS_DAYS: '9', POSTERN_REQUESTS_QUERY: 'no' }
  expect(keptRequestsOf(ownOf(given), SAID)).toEqual({ days: 9, megabytes: 128, hasQueries: false })
})

let requests: Requests | undefined
afterEach(() => requests?.close())

test.each([
  ['fewer days', { days: 2, megabytes: 1024, hasQueries: false }],
  ['none', { days: 0, megabytes: 1024, hasQueries: false }],
])('keeping %s removes the files at once, also the one that still grows', async (_, less) => {
  const directory = join(tempDir(), 'requests')
  requests = createRequests({
    ...{ directory, now: Date.now, exec: createExec(), log: pino({ level: 'silent' }) },
    settings: parseEdgeSettings({}),
    kept: keptRequestsOf(ownOf({}), undefined),
    send: () => true,
    onProblem: () => undefined,
  })
  await requests.start()
  requests.keep(makeKept({ at: Date.now() - 3 * DAY }))
  const files = () => (existsSync(directory) ? readdirSync(directory) : [])
  await until('a file', () => files().length === 1)
  requests.setKept(less)
  await until('no file', () => files().length === 0)
  requests.keep(makeKept())
  await until('the next file, or none', () => less.days === 0 || files().length === 1)
})
