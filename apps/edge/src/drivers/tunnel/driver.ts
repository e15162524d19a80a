import { mkdir } from 'node:fs/promises'
import type { Peer } from '@postern/contract/edge/desired-state'
import type { Problem } from '@postern/contract/edge/edge'
import { messageOf } from '@postern/host/errors'
import { writeAtomic } from '@postern/host/files'
import { findCidr, formatCidr } from '@postern/net/cidr'
import { renderWireGuard } from '@postern/render/wireguard/config'
import { planTunnel, type TunnelPlan } from '@postern/render/wireguard/plan'
import { errorFrom, PartFailedError, type PartResult } from '../part.ts'
import { createAdmission, planInput, type WireGuardWanted } from './admission.ts'
import { createBarriers, removeBarriers } from './barriers.ts'
import { createEndpointMemory, type EndpointMemory, type Endpoints, findEndpoint } from './endpoints.ts'
import { ensureInterface, removeInterface } from './interface.ts'
import { type Network, observeNetwork, observeTunnel } from './observe.ts'
import type { OwnTunnel } from './owner.ts'
import {
  isInSync,
  isOwnPartRight,
  missingPeers,
  type ObservedTunnel,
  planSteps,
  type Step,
  type WantedTunnel,
} from './steps.ts'
import { findTunnel } from './wg.ts'

export interface WireGuardOptions extends OwnTunnel {
  /** For the file that `wg syncconf` reads, the peers' last endpoints and the streams of wireguard-go; 0700. */
  dir: string
  listenPort: number
  /** Networks of gateways must be inside these; default: inside any private one. */
  gatewayNetworks?: readonly string[] | null
  /** Where this machine's name servers are listed; files that do not exist are left out. */
  resolvConfs: readonly string[]
}

export interface WireGuardDriver {
  /** Makes the interface exact, from any state, and reads it back. @throws PartMissingError, PartFailedError */
  apply(wanted: WireGuardWanted): Promise<PartResult>
  /**
   * The peers with those of their networks that are in the tunnel; it reads this machine's network, not the tunnel.
   * From then on nothing for these networks leaves this machine by another way.
   */
  admit(wanted: WireGuardWanted): Promise<readonly Peer[]>
  /** Whether keys, port and peers are still as the last apply left them; it starts no program for wireguard-go. */
  isAsLeft(): Promise<boolean>
  /** Ends the tunnel; wireguard-go ends with its interface. */
  remove(): Promise<void>
}

const TIMEOUT = { timeoutMs: 10_000 }
/** Rounds of reading and acting: the kernel adds routes of its own after an address. */
const ROUNDS = 3
/** Kind of interface → what carries the tunnel, in words. */
const CARRIERS: Record<string, string> = { wireguard: 'WireGuard in the kernel', tun: 'wireguard-go' }

export function createWireGuard(options: WireGuardOptions): WireGuardDriver {
  const memory = createEndpointMemory(`${options.dir}/${options.interface}.endpoints`)
  const observe = () => observeNetwork(options)
  const admission = createAdmission({ ...options, observe, clock: () => performance.now() })
  const barriers = createBarriers(options)
  let left: WantedTunnel | undefined
  return {
    async apply(wanted) {
      left = undefined
      await mkdir(options.dir, { recursive: true, mode: 0o700 })
      const endpoints = await memory.recall()
      const failures: Error[] = []
      const again = async () => look(options, wanted, await admission.look(wanted), barriers.wanted())
      let plan = await look(options, wanted, await admission.lookOnce(wanted), barriers.wanted())
      if (!plan) {
        await ensureInterface(options)
        plan = await again()
      }
      for (let round = 0; round < ROUNDS && plan && plan.steps.length > 0; round++) {
        failures.push(...(await act(options, plan, endpoints)))
        plan = await again()
      }
      if (!plan) throw new PartFailedError(`The interface ${options.interface} does not stay.`)
      const result = judge(options, plan, failures)
      const problems = await remember(memory, plan, endpoints)
      left = plan.target
      barriers.note(plan.target.barriers)
      return { ...result, problems: [...result.problems, ...problems] }
    },
    async admit(wanted) {
      const admitted = await admission.admit(wanted)
      const { tunnelNetwork4, tunnelNetwork6 } = wanted.settings
      const networks = [tunnelNetwork4, tunnelNetwork6, ...admitted.flatMap(({ subnets }) => subnets)]
      await barriers.want(networks.map(spell))
      return admitted
    },
    async isAsLeft() {
      const held = left && (await findTunnel(options.exec, options.interface))
      return left !== undefined && held !== undefined && isInSync(left, held)
    },
    async remove() {
      await removeInterface(options)
      await removeBarriers(options)
    },
  }
}

interface Look {
  target: WantedTunnel
  tunnel: ObservedTunnel
  steps: Step[]
}

/** @returns undefined when there is no tunnel that could be adopted */
async function look(
  options: WireGuardOptions,
  wanted: WireGuardWanted,
  network: Network,
  barriers: readonly string[],
): Promise<Look | undefined> {
  const { tunnel, hasIpv6 } = await observeTunnel(options, network)
  if (!tunnel || !(tunnel.kind in CARRIERS)) return undefined
  const { tunnelPrivateKey } = wanted.settings
  const plan = planTunnel(planInput(wanted, network.occupied, options.gatewayNetworks))
  const all = { ...plan, barriers: [...new Set([...plan.routes, ...barriers])] }
  const target = {
    ...(hasIpv6 ? all : withoutIpv6(all, tunnel.barriers)),
    interface: options.interface,
    privateKey: tunnelPrivateKey,
    listenPort: options.listenPort,
  }
  return { target, tunnel, steps: planSteps(target, tunnel) }
}

/** Tries every step, even after one that failed: the more of it works, the better. */
async function act(options: WireGuardOptions, plan: Look, endpoints: Endpoints): Promise<Error[]> {
  const failures: Error[] = []
  for (const step of plan.steps) {
    const { code, stderr } =
      step.kind === 'ip' ? await ip(options, step.args) : await sync(options, plan, endpoints)
    const what = step.kind === 'ip' ? `ip ${step.args.join(' ')}` : 'wg syncconf'
    if (code !== 0) failures.push(errorFrom(what, stderr))
  }
  return failures
}

/** A peer that WireGuard refuses is that node's problem; any other difference is ours. */
function judge(options: WireGuardOptions, plan: Look, failures: readonly Error[]): PartResult {
  const missing = missingPeers(plan.target, plan.tunnel.held)
  const isOurs =
    plan.steps.some((step) => step.kind === 'ip') || !isOwnPartRight(plan.target, plan.tunnel.held)
  if (isOurs || (missing.length > 0 && failures.length > 0)) throw worst(options, failures)
  const problems: Problem[] = missing.map((id) => ({
    scope: { kind: 'node', id },
    message: "WireGuard rejected this node's configuration.",
  }))
  const detail = CARRIERS[plan.tunnel.kind] ?? plan.tunnel.kind
  return { part: { state: 'ok', detail }, problems: [...plan.target.problems, ...problems] }
}

function worst(options: WireGuardOptions, failures: readonly Error[]): Error {
  const held = failures.find((error) => /address already in use/i.test(error.message))
  if (held) return new PartFailedError(`UDP port ${options.listenPort} is held by another program.`)
  return failures[0] ?? new PartFailedError(`The interface ${options.interface} does not stay as it was set.`)
}

/** An endpoint is set only for a new peer: for an existing one, WireGuard knows better. */
async function sync(options: WireGuardOptions, { target, tunnel }: Look, endpoints: Endpoints) {
  const file = `${options.dir}/${options.interface}.conf`
  const present = new Set(tunnel.held.peers.map((peer) => peer.publicKey))
  const peers = target.peers.map((peer) =>
    present.has(peer.publicKey) ? peer : { ...peer, endpoint: endpoints.get(peer.publicKey) },
  )
  await writeAtomic(file, renderWireGuard({ ...target, peers }), 0o600)
  return options.exec.run('wg', ['syncconf', options.interface, file], TIMEOUT)
}

/** A failure to store them is reported, and does not affect the tunnel. */
async function remember(memory: EndpointMemory, plan: Look, old: Endpoints): Promise<Problem[]> {
  try {
    await memory.keep(endpointsOf(plan, old))
    return []
  } catch (error) {
    const reason = messageOf(error)
    return [{ scope: { kind: 'edge' }, message: `The nodes' endpoints cannot be kept: ${reason}` }]
  }
}

/** For each wanted peer the one in force, else the last one. */
function endpointsOf({ target, tunnel }: Look, old: Endpoints): Endpoints {
  const now = new Map(tunnel.held.peers.map((peer) => [peer.publicKey, findEndpoint(peer.endpoint ?? '')]))
  return new Map(
    target.peers.flatMap(({ publicKey }) => {
      const endpoint = now.get(publicKey) ?? old.get(publicKey)
      return endpoint ? [[publicKey, endpoint]] : []
    }),
  )
}

function spell(network: string): string {
  const cidr = findCidr(network)
  return cidr ? formatCidr(cidr) : network
}

function ip(options: WireGuardOptions, args: readonly string[]) {
  return options.exec.run('ip', args, TIMEOUT)
}

type WithBarriers = TunnelPlan & Pick<WantedTunnel, 'barriers'>

/** @param barriers those that are there stay */
function withoutIpv6(plan: WithBarriers, barriers: readonly string[]): WithBarriers {
  const four = (texts: string[]) => texts.filter((text) => !text.includes(':'))
  const kept = plan.barriers.filter((each) => !each.includes(':') || barriers.includes(each))
  return { ...plan, addresses: four(plan.addresses), routes: four(plan.routes), barriers: kept }
}
