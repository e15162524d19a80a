import { fileURLToPath } from 'node:url'
import { APP, type BudgetLab, CLOSED, SLOW } from '@postern/testkit/lab/budgets'
import type { Running } from '@postern/testkit/processes/exec'
import type { Http2Crowd } from '@postern/testkit/programs/http2-crowd'

/** Starts an attack of one source from these addresses. */
export type Way = (lab: AttackLab, from: readonly string[]) => Running

/** The targets of attacks besides the lab's services. */
export interface AttackLab {
  budgets: BudgetLab
  udpPort: number
}

/** A service behind a sign-in, with bypass lines that each cost many steps. */
export const GUARDED = 'guarded.example.com'
export const COSTLY_BYPASS = Array.from({ length: 30 }, (_, at) => `^/[a-z/]*${at}[a-z/]*x$`).join('\n')

/** The console and its API answer at the server's address. */
const CONSOLE = '203.0.113.1'
const [FEW, MANY] = [
  { connections: 6, streams: 100 },
  { connections: 195, streams: 100 },
] as const
/** Each answer is followed by another request. */
const ENDLESS = { connections: 20, streams: 90, repeats: true } as const
const body = { length: 100_000, first: 'x' }
const post = { ...FEW, method: 'POST' } as const
const guess = '{"username":"admin","password":"a guess"}'
const guesses = { length: guess.length, first: guess, type: 'application/json' }

const http2 =
  (crowd: Omit<Http2Crowd, 'server' | 'from'>): Way =>
  ({ budgets }, from) =>
    budgets.attack({ ...crowd, from })

const UDP_CROWD = fileURLToPath(import.meta.resolve('@postern/testkit/programs/udp-crowd'))
let count = 0
const udp =
  (mode: 'flows' | 'packets'): Way =>
  ({ budgets: { lab, installation }, udpPort }, from) => {
    const server = from[0]?.includes(':') ? '2001:db8::1' : lab.server.address
    const argv = [process.execPath, UDP_CROWD, mode, server, String(udpPort), from.join()]
    return lab.visitor.start(argv, { logFile: `${installation.dataDir}/udp-crowd-${count++}.log` })
  }

/** Each does the worst that a single source can do. */
export const WAYS: Record<string, Way> = {
  'requests that are never answered': http2({ ...MANY, host: SLOW, path: '/' }),
  'beginnings of bodies': http2({ ...post, host: APP, path: '/', body }),
  'bodies that are never answered': http2({
    ...post,
    host: SLOW,
    path: '/',
    body: { length: 1, first: 'x' },
  }),
  'beginnings of sign-ins': http2({
    ...{ ...post, host: CONSOLE, path: '/api/auth/login' },
    body: { ...body, type: 'application/json' },
  }),
  'requests that fail': http2({ connections: 100, streams: 100, host: CLOSED, path: '/', window: 0 }),
  'answers that nobody reads': http2({ ...MANY, host: CONSOLE, path: '/install/postern', window: 0 }),
  'paths with many readings': http2({ ...ENDLESS, host: APP, path: `/a%20${'/...'.repeat(200)}` }),
  'names that end with blanks': http2({
    ...ENDLESS,
    host: APP,
    path: `${'/%20'.repeat(16)}/${'a'.repeat(900)}`,
  }),
  'requests without end': http2({ ...ENDLESS, host: APP, path: '/' }),
  'requests to the console without end': http2({ ...ENDLESS, host: CONSOLE, path: '/api/config' }),
  'answers of a sign-in that nobody began': http2({
    ...{ ...ENDLESS, host: CONSOLE, path: '/.postern/callback?state=x&code=x' },
  }),
  'paths that many bypass lines nearly match': http2({
    ...{ ...ENDLESS, host: GUARDED, path: `/${'a'.repeat(1000)}29x` },
  }),
  'guesses of the password': http2({
    ...{ ...ENDLESS, method: 'POST', host: CONSOLE, path: '/api/auth/login', body: guesses },
  }),
  'flows of UDP': udp('flows'),
  'packets of UDP': udp('packets'),
}
