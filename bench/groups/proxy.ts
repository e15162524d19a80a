import type { Host } from '@postern/testkit/lab/network'
import type { Measured } from '../figures.ts'
import { median } from '../measure.ts'
import type { Effort } from '../sizes.ts'
import { type FullInstallation, LOAD_PATH, UPSTREAM_PORT } from './full-installation.ts'

const MANY = 32

/**
 * A visitor's requests over TLS through HAProxy and the tunnel, compared with the same requests sent by the server's
 * host straight into the tunnel.
 */
export async function measureProxy(full: FullInstallation, effort: Effort): Promise<Measured[]> {
  return [
    { name: 'proxy: a request among many', unit: 'µs', ...(await compareLoads(full, effort, MANY)) },
    { name: 'proxy: a request alone', unit: 'µs', ...(await compareLoads(full, effort, 1)) },
  ]
}

async function compareLoads({ lab, node, domain }: FullInstallation, effort: Effort, connections: number) {
  const [heavy, light]: [number[], number[]] = [[], []]
  const load = { connections, seconds: effort.loadSeconds, domain }
  for (let round = 0; round < effort.loads; round++) {
    heavy.push(await microsPerRequest(lab.visitor, `https://${lab.server.address}${LOAD_PATH}`, load))
    light.push(
      await microsPerRequest(lab.server, `http://${node.address}:${UPSTREAM_PORT}${LOAD_PATH}`, load),
    )
  }
  return { heavy: median(heavy), light: median(light) }
}

export interface Load {
  connections: number
  seconds: number
  domain: string
  /** Beside the host. */
  headers?: string[]
}

async function microsPerRequest(host: Host, url: string, load: Load): Promise<number> {
  return 1e6 / (await sendLoad(host, url, load)).perSecond
}

/**
 * @returns `middle`: the median time of a request, in µs.
 * @throws Error unless every request was answered with success
 */
export async function sendLoad(
  host: Host,
  url: string,
  load: Load,
): Promise<{ requests: number; perSecond: number; middle: number }> {
  const { connections, seconds, domain, headers = [] } = load
  const headerArgs = [`Host: ${domain}`, ...headers].flatMap((header) => ['-H', header])
  const flags = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', ...headerArgs]
  const output = await host.must('wrk', ...flags, url)
  const failures = /Non-2xx.*|Socket errors.*/.exec(output)
  if (failures) throw new Error(`${url}: ${failures[0]}`)
  const requests = Number(/(\d+) requests in/.exec(output)?.[1])
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1])
  const [, middle, unit = ''] = / 50% +([\d.]+)(us|ms|s)/.exec(output) ?? []
  const micros = Number(middle) * ({ us: 1, ms: 1e3, s: 1e6 }[unit] ?? Number.NaN)
  if (!(perSecond > 0) || !(requests > 0) || !(micros > 0)) throw new Error(`${url}: wrk printed ${output}`)
  return { requests, perSecond, middle: micros }
}
