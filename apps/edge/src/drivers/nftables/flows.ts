import type { Exec } from '@postern/host/processes/exec'
import { findIp, formatIp } from '@postern/net/ip'
import { isAdmitted } from '@postern/render/haproxy/maps/lists'
import type { UdpService } from '@postern/render/nftables/udp'
import { errorFrom, PartFailedError } from '../part.ts'
import { parseLinks } from '../tunnel/ip-json.ts'
import { type Flow, isLedOn, parseFlow } from './flow.ts'

interface FlowCheck {
  exec: Exec
  services: readonly UdpService[]
  /** Targets that we lead flows to, or did until now. */
  targets: ReadonlySet<string>
  /** Public ports of services, also former ones. */
  isServicePort(port: number): boolean
  /** The ports where something has changed; null: check all. */
  ports: ReadonlySet<number> | null
}

const TIMEOUT = { timeoutMs: 10_000 }
/** Up to this many ports are asked for one by one. */
const FEW = 4
/** Each takes one run of a program; the rest waits for the next check. */
const MOST_ENDED = 500

/**
 * Ends the flows that no longer match the rules: those to a former target, those of a visitor whom a list does not
 * admit, and those that began at our port before the service existed. Flows of other programs are left alone.
 * @returns whether all have ended
 */
export async function endFlows(check: FlowCheck): Promise<boolean> {
  const unwanted = new Map<string, string[]>()
  const early: Flow[] = []
  const services = new Map(check.services.map((service) => [service.port, service]))
  const judge = (flow: Flow) => {
    const service = services.get(flow.port)
    if (!isLedOn(flow))
      early.push(...(service && targetFor(service, flow) ? [flow] : []).slice(0, MOST_ENDED))
    else if (check.isServicePort(flow.port) && check.targets.has(flow.target))
      collectUnwanted(unwanted, flow, service)
  }
  for (const args of listings(check.ports)) await list(check.exec, args, judge)
  if (early.length > 0) {
    const own = await findOwnAddresses(check.exec)
    for (const flow of early) if (own.has(flow.destination)) add(unwanted, flow, flow.source)
  }
  const ending = [...unwanted.values()]
  for (const args of ending.slice(0, MOST_ENDED)) await end(check.exec, args)
  return ending.length <= MOST_ENDED
}

function targetFor({ target4, target6 }: UdpService, { source }: Flow): string | undefined {
  return isIp6(source) ? target6 : target4
}

function collectUnwanted(unwanted: Map<string, string[]>, flow: Flow, service: UdpService | undefined): void {
  const ip = findIp(flow.source)
  if (!service || targetFor(service, flow) !== flow.target) add(unwanted, flow)
  else if (!ip || !isAdmitted(service.lists, ip)) add(unwanted, flow, flow.source)
}

/** All flows of the port to this target, or those of one visitor. */
function add(unwanted: Map<string, string[]>, flow: Flow, source?: string): void {
  const [address = '', port = ''] = flow.target.split(' . ')
  const to = ['--orig-port-dst', String(flow.port), '--reply-src', address, '--reply-port-src', port]
  const args = ['-f', isIp6(address) ? 'ipv6' : 'ipv4', ...to, ...(source ? ['--orig-src', source] : [])]
  unwanted.set(args.join(' '), args)
}

const isIp6 = (address: string) => address.includes(':')

function listings(ports: ReadonlySet<number> | null): string[][] {
  const filters = ports && ports.size <= FEW ? [...ports].map((port) => ['--orig-port-dst', `${port}`]) : [[]]
  return ['ipv4', 'ipv6'].flatMap((family) => filters.map((filter) => ['-f', family, ...filter]))
}

/** Line by line: a machine may have very many flows. */
function list(exec: Exec, args: readonly string[], onFlow: (flow: Flow) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let last = ''
    const stream = exec.stream('conntrack', ['-L', '-p', 'udp', ...args], {
      onLine(line) {
        const flow = parseFlow(line)
        if (flow) onFlow(flow)
        else last = line
      },
      onExit(error) {
        clearTimeout(timer)
        if (DONE.test(last)) resolve()
        else reject(error ?? errorFrom('conntrack', last))
      },
    })
    const timer = setTimeout(() => stream.stop(), TIMEOUT.timeoutMs)
  })
}

/** The end of conntrack's output after success, even when there was nothing to do. */
const DONE = /flow entries have been (shown|deleted)/

async function end(exec: Exec, args: readonly string[]): Promise<void> {
  const { stderr } = await exec.run('conntrack', ['-D', '-p', 'udp', ...args], TIMEOUT)
  if (!DONE.test(stderr)) throw errorFrom('conntrack', stderr)
}

async function findOwnAddresses(exec: Exec): Promise<Set<string>> {
  const { code, stdout, stderr } = await exec.run('ip', ['-j', 'address', 'show'], TIMEOUT)
  if (code !== 0) throw new PartFailedError(`ip: ${stderr.slice(0, 300)}`)
  const infos = parseLinks(stdout).flatMap(({ addr_info }) => addr_info)
  return new Set(infos.map(({ local = '' }) => findIp(local)).flatMap((ip) => (ip ? formatIp(ip) : [])))
}
