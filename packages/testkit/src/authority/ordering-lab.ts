import type { Service } from '@postern/contract/services/services'
import type { Api } from '../api.ts'
import { type Installation, startInstallation } from '../installation.ts'
import { type Lab, startLab } from '../lab/network.ts'
import type { Running } from '../processes/exec.ts'
import { until } from '../until.ts'
import { type Pebble, startPebble } from './pebble.ts'

/** An authority at the site of a lab, which finds all of `.test` at the lab's server. */
export interface Authority {
  pebble: Pebble
  /** The name server that it asks. */
  names: Running
  /** The settings with which an installation orders its certificates. */
  settings: Record<'POSTERN_DNS_SERVERS' | 'POSTERN_ACME_DIRECTORY' | 'POSTERN_ACME_CA_FILE', string>
}

export async function startAuthority({ site, server }: Pick<Lab, 'site' | 'server'>): Promise<Authority> {
  const fixed = ['--keep-in-foreground', '--conf-file=/dev/null', '--no-resolv', '--no-hosts', '--user=root']
  const answer = `--address=/test/${server.address}`
  const names = site.start(['dnsmasq', ...fixed, '--pid-file=', answer], { logFile: '/dev/null' })
  const host = site.address
  const pebble = await startPebble({ httpPort: 80, nameServer: `${host}:53`, host, inside: site.argv() })
  const settings = {
    POSTERN_DNS_SERVERS: host,
    POSTERN_ACME_DIRECTORY: pebble.directory,
    POSTERN_ACME_CA_FILE: pebble.caFile,
  }
  return { pebble, names, settings }
}

/** An installation that orders its certificates from its lab's authority. */
export interface OrderingLab extends Pick<Authority, 'pebble' | 'names'> {
  lab: Lab
  installation: Installation
  close(): Promise<void>
}

export async function startOrderingLab(): Promise<OrderingLab> {
  const lab = await startLab()
  const ends: (() => Promise<void>)[] = [lab.close]
  const close = async () => {
    for (const end of ends.splice(0).reverse()) await end()
  }
  try {
    const { pebble, names, settings } = await startAuthority(lab)
    ends.push(pebble.close)
    const installation = await startInstallation(lab, settings)
    ends.push(installation.close)
    return { lab, installation, pebble, names, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Changes a service of the node Local. @returns ms until it is live */
export async function timeChange(api: Api, service: Service, count: number): Promise<number> {
  const start = performance.now()
  const path = `/api/services/${service.nodeId}/${service.type}/${service.id}`
  const { status, text } = await api.call('PATCH', path, { blockedIps: [`192.0.2.${count % 250}`] })
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`)
  const isLive = async () => (await api.getService(service)).state.phase === 'live'
  await until('the change to be live', isLive, { everyMs: 10 })
  return performance.now() - start
}
