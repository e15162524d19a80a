import { shared } from '@postern/testkit/shared'
import { sendRaw, statusesIn } from '@postern/testkit/wire'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HOST, ID, startProxyLab } from './lab/proxy-lab.ts'
import { possibleServices } from './lab/readings.ts'
import { FORGED } from './tables/forged-headers.ts'
import { FRAMINGS } from './tables/framings.ts'
import { PATHS } from './tables/paths.ts'

/** `npm run attacks` sets both; otherwise a few hundred with one seed. */
const SECONDS = Number(process.env.POSTERN_ATTACK_SECONDS ?? 8)
const SEED = Number(process.env.POSTERN_ATTACK_SEED ?? 20_260)
const FORGERY = '203.0.113.66'
/** By then HAProxy has either answered a framing or waits for more of it. */
const SILENCE = 400

const lab = shared(startProxyLab)

const PIECES = [
  '/',
  '/',
  'admin',
  'admin',
  'x',
  '.',
  '..',
  ';',
  ';a=b',
  '\\',
  '?',
  '%',
  '#',
  '%00',
  '//',
  '%61',
  '%2561',
  '.',
  '%20',
  '%09',
]
const ESCAPES = [
  '%2f',
  '%2F',
  '%5c',
  '%2e',
  '%2E%2e',
  '%3b',
  '%25',
  '%252f',
  '%61dmin',
  '%u0061dmin',
  '%u002F',
  '%250a',
  '\xc0\xaf',
  ' ',
  '\t',
  '~',
  'A',
]
const invented = fc
  .array(fc.constantFrom(...PIECES, ...ESCAPES), { minLength: 1, maxLength: 9 })
  .map((parts) => `/${parts.join('')}`)
const target = fc.oneof(
  invented,
  fc.constantFrom(...PATHS.map(([path]) => path).filter((path) => path.length < 400)),
)
const forged = fc.array(fc.constantFrom(...FORGED), { maxLength: 4 })
const plain = `GET /f HTTP/1.1\r\nHost: ${HOST}\r\nX-Attack: ${ID}\r\nConnection: close\r\n\r\n`
const framing = fc.oneof(
  { weight: 2, arbitrary: fc.constant(plain) },
  { weight: 1, arbitrary: fc.constantFrom(...FRAMINGS.map(([, bytes]) => bytes)) },
)
/** Many at a time, since most of them only wait. */
const attacks = fc.array(fc.tuple(framing, target, forged), { minLength: 1, maxLength: 32, size: 'max' })
let tried = 0

/** A framing of the table, with another path and with forged headers. */
function combine(bytes: string, path: string, names: readonly string[], id: string): string {
  const headers = names.map((name) => `${name}: ${FORGERY}\r\n`).join('')
  return bytes
    .replace(' /f ', () => ` ${path} `)
    .replace(`X-Attack: ${ID}\r\n`, () => `X-Attack: ${ID}\r\n${headers}`)
    .replaceAll(ID, id)
}

type Attack = [bytes: string, path: string, names: string[]]

async function check(attack: Attack): Promise<void> {
  tried++
  // No service gets a request that the visitor gets no answer to; a busy machine may answer later.
  if (!(await isAnswered(attack, SILENCE))) expect(await isAnswered(attack)).toBe(true)
}

async function isAnswered([bytes, path, names]: Attack, silence?: number): Promise<boolean> {
  const id = lab.nextId()
  const statuses = statusesIn(await sendRaw(lab.port, combine(bytes, path, names, id), { silence }))
  const reached = lab.reached(id)
  for (const { by, request } of reached) {
    expect(request.head).not.toContain(FORGERY)
    expect([request.target, ...possibleServices(request.target)]).toEqual([request.target, by])
  }
  const whole = reached.filter(({ request }) => request.isWhole)
  return whole.length <= statuses.filter((status) => status === 200).length
}

test(
  'whatever is combined, a service gets only its own requests, once, and nothing forged',
  async () => {
    const property = fc.asyncProperty(attacks, async (all) => void (await Promise.all(all.map(check))))
    await fc.assert(property, {
      seed: SEED,
      numRuns: Number.MAX_SAFE_INTEGER,
      interruptAfterTimeLimit: SECONDS * 1000,
    })
    expect(lab.faults()).toEqual([])
    // Makes a run repeatable, and an empty run visible.
    process.stdout.write(`${tried} combinations with seed ${SEED}\n`)
    expect(tried).toBeGreaterThan(SECONDS)
  },
  SECONDS * 1000 + 60_000,
)

test('afterwards a visitor is answered as usual', async () => {
  const id = lab.nextId()
  const head = `GET /f HTTP/1.1\r\nHost: ${HOST}\r\nX-Attack: ${id}\r\nConnection: close\r\n\r\n`
  expect(statusesIn(await sendRaw(lab.port, head))).toEqual([200])
  expect(lab.reached(id).map(({ by }) => by)).toEqual(['root'])
})
