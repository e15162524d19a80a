import { fileURLToPath } from 'node:url'
import { must } from '@postern/testkit/exec'
import { isApplied } from '@postern/testkit/installation'
import { processorMs } from '@postern/testkit/time'
import { until } from '@postern/testkit/until'
import * as z from 'zod/mini'
import type { Measured } from '../figures.ts'
import { median } from '../measure.ts'
import { type Effort, SIZES } from '../sizes.ts'
import type { FullInstallation } from './full-installation.ts'

const PROGRAM = fileURLToPath(new URL('../programs/change-routes.ts', import.meta.url))
const TIMEOUT_MS = 60_000
const Times = z.array(z.number())

interface Costs {
  visible: number
  edge: number
  server: number
  restart: number
}

/** Changes of one route in an installation that first has few and then many others. */
export async function measureChanges(full: FullInstallation, effort: Effort): Promise<Measured[]> {
  await full.grow(SIZES.routes.light, SIZES.certificates.light)
  const light = await costsOf(full, effort)
  await full.grow(SIZES.routes.heavy, SIZES.certificates.heavy)
  const heavy = await costsOf(full, effort)
  const figure = (name: string, key: keyof Costs): Measured => ({
    name,
    heavy: heavy[key],
    light: light[key],
    unit: 'ms',
  })
  return [
    figure('route: until a visitor sees it', 'visible'),
    figure('route: processor time of the edge', 'edge'),
    figure('route: processor time of the server', 'server'),
    figure('edge: restart until applied', 'restart'),
  ]
}

async function costsOf(full: FullInstallation, effort: Effort): Promise<Costs> {
  const { edge, server } = full.installation
  await changeRoutes(full, 2)
  const before = { edge: processorMs(edge.pid), server: processorMs(server.pid) }
  const times = await changeRoutes(full, effort.routes)
  // Each round publishes a route and removes it.
  const changes = 2 * effort.routes
  return {
    visible: median(times),
    edge: (processorMs(edge.pid) - before.edge) / changes,
    server: (processorMs(server.pid) - before.server) / changes,
    restart: await timeRestart(full),
  }
}

async function changeRoutes(full: FullInstallation, rounds: number): Promise<number[]> {
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
