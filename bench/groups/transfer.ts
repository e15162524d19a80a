import { existsSync } from 'node:fs'
import type { Host } from '@postern/testkit/lab/network'
import { startTransferServer, transfer } from '@postern/testkit/lab/upstreams'
import { processorMs } from '@postern/testkit/time'
import { until } from '@postern/testkit/until'
import type { Measured } from '../figures.ts'
import { median } from '../measure.ts'
import type { Effort } from '../sizes.ts'
import type { FullInstallation } from './full-installation.ts'

const PORT = 7000
/** More rounds: the two are nearly the same, and rounds differ by as much. */
const MORE_ROUNDS = 2

/** A download and an upload of the same size, in ms per MB. */
interface Cost {
  clock: number
  processor: number
}

/**
 * A visitor's transfers through a TCP service, compared with those of the server's host straight through the tunnel.
 */
export async function measureTransfers(full: FullInstallation, effort: Effort): Promise<Measured[]> {
  const { lab, installation, node } = full
  const program = await startTransferServer(lab.site, `${installation.dataDir}/transfer`, PORT)
  const port = await publish(full)
  const heavy: Cost[] = []
  const light: Cost[] = []
  for (let round = 0; round < effort.loads + MORE_ROUNDS; round++) {
    heavy.push(await costOf(full, lab.visitor, lab.server.address, port, effort.transferBytes))
    light.push(await costOf(full, lab.server, node.address, PORT, effort.transferBytes))
  }
  await program.stop()
  const figure = (name: string, key: keyof Cost): Measured => ({
    name,
    unit: 'ms/MB',
    heavy: median(heavy.map((cost) => cost[key])),
    light: median(light.map((cost) => cost[key])),
  })
  return [
    figure('tcp: a transfer beside the tunnel alone', 'clock'),
    figure('tcp: processor time beside the tunnel alone', 'processor'),
  ]
}

async function publish({ installation: { api }, node }: FullInstallation): Promise<number> {
  const service = await api.publishPort(node.id, { name: 'transfer', backendPort: PORT })
  const isLive = async () => (await api.getService(service)).state.phase === 'live'
  await until('the service to be live', isLive, { timeoutMs: 60_000 })
  return service.port
}

async function costOf({ lab }: FullInstallation, from: Host, to: string, port: number, bytes: number) {
  const before = await processorOf(lab.server, lab.site)
  let clock = 0
  for (const way of ['get', 'put'] as const) clock += (await transfer(from, way, to, port, bytes)).ms
  const processor = (await processorOf(lab.server, lab.site)) - before
  const megabytes = (2 * bytes) / 1e6
  return { clock: clock / megabytes, processor: processor / megabytes }
}

/** The processor time of all programs there, in ms, also of those that have ended by now. */
async function processorOf(...hosts: Host[]): Promise<number> {
  const pids = await Promise.all(hosts.map((host) => host.listPids()))
  const running = pids.flat().filter((pid) => existsSync(`/proc/${pid}/stat`))
  return running.reduce((sum, pid) => sum + processorMs(pid), 0)
}
