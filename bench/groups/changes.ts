import { fileURLToPath } from 'node:url'
import { isApplied } from '@postern/testkit/installation'
import { must } from '@postern/testkit/processes/exec'
import { processorMs } from '@postern/testkit/time'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import * as z from 'zod/mini'
import type { Measured } from '../figures.ts'
import { median, slowest } from '../measure.ts'
import { type Effort, SIZES } from '../sizes.ts'
import { type FullInstallation, LOAD_PATH } from './full-installation.ts'

const PROGRAM = fileURLToPath(new URL('../programs/change-routes.ts', import.meta.url))
const TIMEOUT_MS = 120_000
const Times = z.object({ created: z.array(z.number()), changed: z.array(z.number()) })

interface Costs {
  created: number[]
  changed: number[]
  edge: number
  server: number
  restart: number
  killed: number
  /** HAProxy alone, started by hand from the same files. */
  proxyAlone: number
}

/** Changes of one route in installations with few, more and many other routes. */
export async function measureChanges(full: FullInstallation, effort: Effort): Promise<Measured[]> {
  const at = async (size: keyof typeof SIZES.routes) => {
    await full.grow(SIZES.routes[size], SIZES.certificates[size])
    return await costsOf(full, effort)
  }
  const [light, medium, heavy] = [await at('light'), await at('medium'), await at('heavy')]
  const figure = (name: string, a: Costs, b: Costs, cost: (costs: Costs) => number): Measured => ({
    name,
    heavy: cost(a),
    light: cost(b),
    unit: 'ms',
  })
  return [
    figure('route: until a visitor sees it', heavy, light, ({ created }) => median(created)),
    figure('route: created, in the middle', heavy, medium, ({ created }) => median(created)),
    figure('route: created, the slowest', heavy, medium, ({ created }) => slowest(created)),
    figure('route: changed, in the middle', heavy, medium, ({ changed }) => median(changed)),
    figure('route: changed, the slowest', heavy, medium, ({ changed }) => slowest(changed)),
    figure('route: processor time of the edge', heavy, light, ({ edge }) => edge),
    figure('route: processor time of the server', heavy, light, ({ server }) => server),
    figure('edge: restart until applied', heavy, light, ({ restart }) => restart),
    figure('all: killed until a visitor is answered', medium, light, ({ killed }) => killed),
    {
      name: 'all: killed, beside HAProxy alone',
      unit: 'ms',
      heavy: medium.killed,
      light: medium.proxyAlone,
    },
  ]
}

async function costsOf(full: FullInstallation, effort: Effort): Promise<Costs> {
  const { edge, server } = full.installation
  await changeRoutes(full, 2)
  const before = { edge: processorMs(edge.pid), server: processorMs(server.pid) }
  const times = await changeRoutes(full, effort.routes)
  // Each round publishes a route, changes it and removes it.
  const changes = 3 * effort.routes
  return {
    ...times,
    edge: (processorMs(edge.pid) - before.edge) / changes,
    server: (processorMs(server.pid) - before.server) / changes,
    restart: await timeRestart(full),
    ...(await timeKilled(full)),
  }
}

async function changeRoutes(full: FullInstallation, rounds: number): Promise<z.infer<typeof Times>> {
  const { lab, installation, node, domain } = full
  const order = {
    socketPath: installation.paths.serverSocket,
    token: installation.api.token,
    address: lab.server.address,
    domain,
    nodeId: node.id,
    rounds,
  }
  const output = await must(lab.visitor.argv(process.execPath, PROGRAM), {
    input: JSON.stringify(order),
    timeoutMs: TIMEOUT_MS,
  })
  return Times.parse(JSON.parse(output))
}

/** HAProxy and the tunnel go on meanwhile; the new edge takes them over. */
async function timeRestart({ installation }: FullInstallation): Promise<number> {
  const { api } = installation
  await installation.edge.stop()
  await until('the server to miss the edge', async () => !(await isApplied(api)))
  const start = performance.now()
  installation.startEdge()
  await until('the edge to apply the state', () => isApplied(api), { timeoutMs: TIMEOUT_MS, everyMs: 5 })
  return performance.now() - start
}

/**
 * Server, edge and HAProxy are killed, and server and edge are started again; before that HAProxy alone, which is the
 * shortest possible time.
 */
async function timeKilled(full: FullInstallation): Promise<Pick<Costs, 'killed' | 'proxyAlone'>> {
  const { lab, installation } = full
  const { haproxyDir } = installation.paths
  const proxy = installation.haproxyPid()
  await Promise.all([installation.edge.stop('SIGKILL'), installation.server.stop('SIGKILL')])
  process.kill(proxy, 'SIGKILL')
  const files = ['-f', `${haproxyDir}/haproxy.cfg`, '-p', `${haproxyDir}/haproxy.pid`]
  const proxyAlone = await timeUntilAnswered(full, () => lab.server.must('haproxy', '-D', ...files))
  process.kill(installation.haproxyPid(), 'SIGKILL')
  let started: Promise<void> | undefined
  const killed = await timeUntilAnswered(full, async () => {
    installation.startEdge()
    started = installation.startServer()
  })
  await started
  await until('the edge to apply the state', () => isApplied(installation.api), { timeoutMs: TIMEOUT_MS })
  return { killed, proxyAlone }
}

async function timeUntilAnswered(
  { lab, domain }: FullInstallation,
  start: () => Promise<unknown>,
): Promise<number> {
  const began = performance.now()
  await start()
  const isAnswered = async () => (await visit(lab.visitor, `https://${domain}${LOAD_PATH}`)).status === 200
  await until('a visitor to be answered', isAnswered, { timeoutMs: TIMEOUT_MS, everyMs: 5 })
  return performance.now() - began
}
