import { setTimeout as pause } from 'node:timers/promises'
import { processorMs } from '@postern/testkit/time'
import type { Measured } from '../figures.ts'
import type { Effort } from '../sizes.ts'
import { type FullInstallation, LOAD_PATH } from './full-installation.ts'
import { sendLoad } from './proxy.ts'

/** Longer than the edge lets lines wait, so that it has read the last lines. */
const QUIET_MS = 500

/**
 * The edge's work for the log line of a request that nobody watches, compared with HAProxy's work for the request;
 * and its work while idle, compared with a whole processor.
 */
export async function measureLog(full: FullInstallation, effort: Effort): Promise<Measured[]> {
  const { lab, installation, domain } = full
  const seconds = effort.loads * effort.loadSeconds
  const [edge, proxy] = [installation.edge.pid, installation.haproxyPid()]
  const costs = () => ({ edge: processorMs(edge), proxy: processorMs(proxy), at: performance.now() })
  const start = costs()
  await pause(seconds * 1000)
  const before = costs()
  const load = { connections: 32, seconds, domain }
  const { requests } = await sendLoad(lab.visitor, `https://${lab.server.address}${LOAD_PATH}`, load)
  await pause(QUIET_MS)
  const after = costs()
  // Includes everything else the edge does all the time.
  const idle = (before.edge - start.edge) / (before.at - start.at)
  const line = Math.max(0, after.edge - before.edge - idle * (after.at - before.at))
  return [
    {
      name: 'log: a line that nobody watches',
      unit: 'µs',
      heavy: (line * 1000) / requests,
      light: ((after.proxy - before.proxy) * 1000) / requests,
    },
    { name: 'edge: idle, beside a whole processor', unit: 'ms', heavy: idle * 1000, light: 1000 },
  ]
}
