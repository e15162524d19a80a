import { fileURLToPath } from 'node:url'
import { agentOn } from '@postern/testkit/agent'
import { APP, type BudgetLab, IPV4, NETWORK, startBudgetLab } from '@postern/testkit/lab/budgets'
import { startListening } from '@postern/testkit/lab/upstreams'
import { until } from '@postern/testkit/until'
import type { Measured } from '../figures.ts'
import { type AttackLab, COSTLY_BYPASS, GUARDED, WAYS, type Way } from './attack-ways.ts'

/** How much an attack may add to another visitor's wait, in ms. */
const MAY_ADD = 100
/** A failure counts as a wait of this length, in ms. */
const FAILED = 10_000
const QUIET_MS = 10_000
const GIVEN_BACK_WITHIN = 60_000
const [ECHO, COUNTED, COUNTED_ECHO] = [8080, 8082, 8083]
const SOURCES = { 'an IPv4 address': IPV4, 'an IPv6 /48': NETWORK }

export interface AttackOptions {
  /** Text in the names of the attacks to measure. */
  way: string
  /** How long each attack lasts. */
  seconds: number
  say(line: string): void
}

/** Another visitor beside each attack, from one IPv4 address and from a /48 of IPv6, and the memory after it. */
export async function measureAttacks({ way: wanted, seconds, say }: AttackOptions): Promise<Measured[]> {
  const chosen = Object.entries(SOURCES).flatMap(([source, from]) =>
    Object.entries(WAYS).map(([name, way]) => ({ name: `${name}, from ${source}`, way, from })),
  )
  const lab = await startAttackLab()
  const { budgets } = lab
  try {
    await budgets.hundredArrive()
    const quiet = await watch(lab, QUIET_MS)
    say(`quiet: ${tell(quiet)}`)
    const measured: Measured[] = []
    for (const attack of chosen.filter(({ name }) => name.includes(wanted)))
      measured.push(...(await measureAttack(lab, { ...attack, quiet, ms: seconds * 1000, say })))
    return measured
  } finally {
    await budgets.close()
  }
}

async function startAttackLab(): Promise<AttackLab> {
  const oidc = { POSTERN_OIDC_ISSUER: 'github', POSTERN_OIDC_CLIENT_ID: 'x', POSTERN_OIDC_CLIENT_SECRET: 'x' }
  const budgets = await startBudgetLab(oidc)
  return { budgets, udpPort: await publishMore(budgets) }
}

async function publishMore({ lab, installation }: BudgetLab): Promise<number> {
  const { api, dataDir } = installation
  const program = fileURLToPath(import.meta.resolve('@postern/testkit/programs/counted'))
  const command = [process.execPath, program, String(COUNTED), String(COUNTED_ECHO)]
  await startListening(lab.site, command, `${dataDir}/upstreams`, 'counted', COUNTED)
  const guarded = { domain: GUARDED, skipValidation: true, authentication: true }
  await api.call('POST', '/api/domains', { ...guarded, allowedEmails: ['ann@example.com'] })
  const web = await api.publish(1, {
    ...{ name: 'guarded', domain: GUARDED, backendHost: '127.0.0.1', backendPort: ECHO },
    ...{ requireAuth: true, skipAuthRoutes: COSTLY_BYPASS },
  })
  const node = await api.createNode({ name: 'udp' })
  await agentOn(lab.site, installation).connect(node.token)
  const udp = await api.publishPort(node.id, { name: 'udp', proto: 'udp', backendPort: COUNTED_ECHO })
  for (const each of [web, udp])
    await until('the services', async () => (await api.getService(each)).state.phase === 'live')
  return udp.port
}

interface Attack {
  name: string
  way: Way
  from: readonly string[]
  quiet: Waits
  ms: number
  say(line: string): void
}

async function measureAttack(lab: AttackLab, attack: Attack): Promise<Measured[]> {
  const { name, way, from, quiet, ms, say } = attack
  const { budgets } = lab
  const before = budgets.memory()
  const running = way(lab, from)
  await until('all to be asked', () => running.output().includes('asked'))
  const waits = await watch(lab, ms)
  const held = budgets.memory()
  await running.stop()
  const end = performance.now()
  const isBack = () => budgets.memory() < 1.2 * before
  await until('the memory', isBack, { timeoutMs: GIVEN_BACK_WITHIN }).catch(() => false)
  const back = ((performance.now() - end) / 1000).toFixed(1)
  say(`${name}: ${tell(waits)}; ${before} kB, ${held}, ${budgets.memory()} after ${back} s`)
  say(`  ${running.output().trim().split('\n').at(-1)}`)
  const added = KINDS.map((kind) => mostOf(waits[kind]) - mostOf(quiet[kind]))
  return [
    {
      name: `${name}: what another waits more`,
      unit: 'ms',
      heavy: Math.max(0, ...added),
      light: MAY_ADD,
    },
    { name: `${name}: memory afterwards`, unit: 'kB', heavy: budgets.memory(), light: before },
  ]
}

const KINDS = ['page', 'form', 'socket', 'sign-in', 'udp'] as const
type Waits = Record<(typeof KINDS)[number], number[]>

const VISITOR = fileURLToPath(import.meta.resolve('@postern/testkit/programs/other-visitor'))
let count = 0

/** How long another visitor waits meanwhile. */
async function watch({ budgets: { lab, installation }, udpPort }: AttackLab, ms: number): Promise<Waits> {
  const [site, server] = [lab.site, lab.server.address]
  const logFile = `${installation.dataDir}/other-${count++}.log`
  const visitor = site.start([process.execPath, VISITOR, server, APP, String(udpPort)], { logFile })
  await new Promise((done) => setTimeout(done, ms))
  await visitor.stop()
  const waits: Waits = { page: [], form: [], socket: [], 'sign-in': [], udp: [] }
  for (const line of visitor.output().split('\n'))
    for (const kind of KINDS)
      if (line.startsWith(`${kind} `)) waits[kind].push(Number(line.slice(kind.length + 1)) || FAILED)
  return waits
}

/** All but the slowest twentieth are at least as quick as this; a failure always counts. */
function mostOf(waits: readonly number[]): number {
  if (waits.length === 0 || waits.includes(FAILED)) return FAILED
  const sorted = [...waits].sort((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? FAILED
}

const tell = (waits: Waits) =>
  KINDS.map((kind) => `${kind} ${mostOf(waits[kind]).toFixed(0)} (${waits[kind].length})`).join(', ')
