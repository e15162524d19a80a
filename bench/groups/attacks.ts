import {
  APP,
  type BudgetLab,
  CLOSED,
  IPV4,
  NETWORK,
  type Served,
  SLOW,
  startBudgetLab,
} from '@postern/testkit/lab/budgets'
import type { Http2Crowd } from '@postern/testkit/programs/http2-crowd'
import { until } from '@postern/testkit/until'
import type { Measured } from '../figures.ts'

/** What an attack may add to what another visitor waits for, in ms. */
const MAY_ADD = 100
/** Whatever fails counts as a wait of so long, in ms. */
const FAILED = 10_000
const ATTACK_MS = 60_000
const QUIET_MS = 10_000
const GIVEN_BACK_WITHIN = 60_000

type Way = Omit<Http2Crowd, 'server' | 'from'>
const [FEW, MANY] = [
  { connections: 6, streams: 100 },
  { connections: 195, streams: 100 },
] as const
const body = { length: 100_000, first: 'x' }
const post = { ...FEW, method: 'POST' } as const
/** The console and its API answer at the server's address. */
const CONSOLE = '203.0.113.1'
const login = { ...body, type: 'application/json' }

/** Each does the worst that one source can. */
const WAYS: Record<string, Way> = {
  'requests that are never answered': { ...MANY, host: SLOW, path: '/' },
  'beginnings of bodies': { ...post, host: APP, path: '/', body },
  'bodies that are never answered': { ...post, host: SLOW, path: '/', body: { length: 1, first: 'x' } },
  'beginnings of sign-ins': { ...post, host: CONSOLE, path: '/api/auth/login', body: login },
  'requests that fail': { connections: 100, streams: 100, host: CLOSED, path: '/', window: 0 },
  'answers that nobody reads': { ...MANY, host: CONSOLE, path: '/install/postern', window: 0 },
  'paths with many readings': {
    ...{ connections: 20, streams: 90, repeats: true },
    ...{ host: APP, path: `/a%20${'/...'.repeat(200)}` },
  },
  'requests without end': { connections: 20, streams: 90, host: APP, path: '/', repeats: true },
  'requests to the console without end': {
    ...{ connections: 20, streams: 90, repeats: true },
    ...{ host: CONSOLE, path: '/api/config' },
  },
  'answers of a sign-in that nobody began': {
    ...{ connections: 20, streams: 90, repeats: true },
    ...{ host: CONSOLE, path: '/.postern/callback?state=x&code=x' },
  },
}

/** Another visitor beside each attack, from one IPv4 address and from a /48 of IPv6, and the memory after it. */
export async function measureAttacks(say: (line: string) => void): Promise<Measured[]> {
  const budgets = await startBudgetLab()
  try {
    await budgets.hundredArrive()
    const quiet = await watch(budgets, QUIET_MS)
    const measured: Measured[] = []
    for (const [source, from] of Object.entries({ 'an IPv4 address': IPV4, 'an IPv6 /48': NETWORK }))
      for (const [name, way] of Object.entries(WAYS)) {
        say(`${name}, from ${source} …`)
        measured.push(
          ...(await measureAttack(budgets, { name: `${name}, from ${source}`, way, from, quiet })),
        )
      }
    return measured
  } finally {
    await budgets.close()
  }
}

type Waits = Record<Served, number[]>

interface Attack {
  name: string
  way: Way
  from: readonly string[]
  quiet: Waits
}

async function measureAttack(budgets: BudgetLab, { name, way, from, quiet }: Attack): Promise<Measured[]> {
  const before = budgets.memory()
  const attack = budgets.attack({ ...way, from })
  await until('all to be asked', () => attack.output().includes('asked'))
  const waits = await watch(budgets, ATTACK_MS)
  await attack.stop()
  const added = (kind: Served) => mostOf(waits[kind]) - mostOf(quiet[kind])
  const heavy = Math.max(0, ...KINDS.map(added))
  const isBack = () => budgets.memory() < 1.2 * before
  const given = await until('the memory', isBack, { timeoutMs: GIVEN_BACK_WITHIN }).catch(() => false)
  if (!given) await budgets.othersAreServed()
  return [
    { name: `${name}: what another waits more`, unit: 'ms', heavy, light: MAY_ADD },
    { name: `${name}: memory afterwards`, unit: 'kB', heavy: budgets.memory(), light: before },
  ]
}

const KINDS = ['page', 'form', 'socket', 'sign-in'] as const

async function watch(budgets: BudgetLab, ms: number): Promise<Waits> {
  const waits: Waits = { page: [], form: [], socket: [], 'sign-in': [] }
  for (const end = performance.now() + ms; performance.now() < end; ) {
    const served = await budgets.othersAreServed().catch(() => undefined)
    for (const kind of KINDS) waits[kind].push(served?.[kind] ?? FAILED)
  }
  return waits
}

/** All but the slowest twentieth are as quick as this; one that failed counts whatever the others did. */
function mostOf(waits: readonly number[]): number {
  if (waits.includes(FAILED)) return FAILED
  const sorted = [...waits].sort((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? FAILED
}
