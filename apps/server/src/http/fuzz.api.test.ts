import { edgeToken } from '@postern/testkit/edge-client'
import { shared } from '@postern/testkit/shared'
import { expect, test } from 'vitest'
import { attempt, readEverything } from '../../test/fuzz/attempt.ts'
import { type Case, FUZZED, listCases, sample } from '../../test/fuzz/cases.ts'
import { createRandom } from '../../test/fuzz/random.ts'
import { BODIES, REFUSED, startWorld } from '../../test/fuzz/world.ts'

/** `npm run fuzz` sets both: how long to try, and what chance begins with. */
const { POSTERN_FUZZ_SECONDS, POSTERN_FUZZ_SEED } = process.env
const SEED = Number(POSTERN_FUZZ_SEED ?? 1)
/** Of each field, in the short run. */
const PER_FIELD = 4
/** After so many requests everything is read. */
const LOOK_EVERY = 200

const world = shared(startWorld)
const random = createRandom(SEED)

const wordsOf = ({ endpoint, spot, hostile }: Case) =>
  `${endpoint}: ${spot.place} ${spot.path.join('.')}: ${hostile.name}`

const rightNames = FUZZED.flatMap(({ name }) => (name in BODIES && !(name in REFUSED) ? [name] : []))

test.each(rightNames)('%s accepts what is right, so that nothing hides a wrong field', async (name) => {
  const spot = { place: 'query', path: ['unknownKey'] } as const
  const nothing = { name: 'absent', value: undefined }
  const answer = await world.send({ endpoint: name, spot, hostile: nothing }, 'session')
  expect([answer.statusCode, answer.statusCode < 300 ? '' : answer.body]).toEqual([expect.any(Number), ''])
  await world.restore()
})

test('nothing that a person or a program can send makes the server fail, or is taken and then refused', async () => {
  console.log(`fuzz with seed ${SEED}`)
  const cases = listCases(world.bodyOf)
  const end = Date.now() + Number(POSTERN_FUZZ_SECONDS ?? 0) * 1000
  const wrong: string[] = []
  let count = 0
  const tryAll = async (some: readonly Case[], isOver: () => boolean) => {
    for (const tried of some) {
      if (isOver() || wrong.length > 20) return
      const as = random.pick(['session', 'program'] as const)
      const found = await attempt(world, tried, as)
      if (found !== undefined) wrong.push(`${wordsOf(tried)} (${as}): ${found}`)
      if (++count % LOOK_EVERY === 0) {
        const later = await readEverything(world)
        if (later !== undefined) wrong.push(`after ${wordsOf(tried)}: ${later}`)
      }
    }
  }
  await tryAll(sample(cases, PER_FIELD, random), () => false)
  while (Date.now() < end) await tryAll(random.shuffle(cases), () => Date.now() >= end)
  console.log(`${count} requests of ${cases.length} kinds`)
  expect(wrong).toEqual([])
  expect(await readEverything(world)).toBeUndefined()
})

test('an edge still gets all of it', async () => {
  const { context } = world.server
  const answer = await world.server.call({
    method: 'POST',
    url: '/api/edge/state',
    headers: { authorization: `Bearer ${edgeToken(context.config.paths)}` },
    payload: { known: {} },
  })
  expect([answer.statusCode, answer.statusCode === 200 ? '' : answer.body]).toEqual([200, ''])
})
