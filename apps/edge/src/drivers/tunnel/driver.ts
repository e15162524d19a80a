import { mkdir } from 'node:fs/promises'
import type { Peer } from '@postern/contract/desired-state'
import type { Problem } from '@postern/contract/edge'
import { messageOf } from '@postern/host/errors'
import { writeAtomic } from '@postern/host/files'
import { renderWireGuard } from '@postern/render/wireguard/config'
import { planTunnel, type TunnelPlan } from '@postern/render/wireguard/plan'
import { errorFrom, PartFailedError, type PartResult } from '../part.ts'
import { createAdmission, planInput, type WireGuardWanted } from './admission.ts'
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
  /** In which gateways' networks must lie; by default in any private one. */
  gatewayNetworks?: readonly string[] | null
  /** Where this machine's name servers are listed. */
  resolvConf: string
}

export interface WireGuardDriver {
  /** Makes the interface exact, from any state, and reads it back. @throws PartMissingError, PartFailedError */
  apply(wanted: WireGuardWanted): Promise<PartResult>
  /** The peers with those of their networks that are in the tunnel; it looks at this machine, and not at the tunnel. */
  admit(wanted: WireGuardWanted): Promise<readonly Peer[]>
  /** Whether keys, port and peers are still as the last apply left them; it starts no program for wireguard-go. */
  isAsLeft(): Promise<boolean>
  /** Ends the tunnel; wireguard-go ends with its interface. */
  remove(): Promise<void>
}

const TIMEOUT = { timeoutMs: 10_000 }
/** Rounds of look, act, look again: the kernel adds routes of its own after an address. */
const ROUNDS = 3
/** Kind of interface → what carries the tunnel, in words. */
const CARRIERS: Record<string, string> = { wireguard: 'WireGuard in the kernel', tun: 'wireguard-go' }

export function createWireGuard(options: WireGuardOptions): WireGuardDriver {
  const memory = createEndpointMemory(`${options.dir}/${options.interface}.endpoints`)
  const observe = () => observeNetwork(options)
  const admission = createAdmission({ ...options, observe, clock: () => performance.now() })
  let left: WantedTunnel | undefined
  return {
    async apply(wanted) {
      left = undefined
      await mkdir(options.dir, { recursive: true, mode: 0o700 })
      const endpoints = await memory.recall()
      const failures: Error[] = []
      const again = async () => look(options, wanted, await admission.look(wanted))
      let plan = await look(options, wanted, await admission.lookOnce(wanted))
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
      return { ...result, problems: [...result.problems, ...problems] }
    },
    admit: admission.admit,
    async isAsLeft() {
      const held = left && (await findTunnel(options.exec, options.interface))
      return left !== undefined && held !== undefined && isInSync(left, held)
    },
    remove: () => removeInterface(options),
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
): Promise<Look | undefined> {
  const { tunnel, hasIpv6 } = await observeTunnel(options, network)
  if (!tunnel || !(tunnel.kind in CARRIERS)) return undefined
  const { tunnelPrivateKey } = wanted.settings
  const plan = planTunnel(planInput(wanted, network.occupied, options.gatewayNetworks))
  const target = {
    ...(hasIpv6 ? plan : withoutIpv6(plan)),
    interface: options.interface,
    privateKey: tunnelPrivateKey,
    listenPort: options.listenPort,
  }
  return { target, tunnel, steps: planSteps(target, tunnel) }
}

/** Tries every step, also after one that failed: the more of it stands, the better. */
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

/** A peer that WireGuard does not take is that node's problem; anything else that is not as wanted is ours. */
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

/** An endpoint is only ever given with a new peer: of one that it has, WireGuard itself knows better. */
async function sync(options: WireGuardOptions, { target, tunnel }: Look, endpoints: Endpoints) {
  const file = `${options.dir}/${options.interface}.conf`
  const present = new Set(tunnel.held.peers.map((peer) => peer.publicKey))
  const peers = target.peers.map((peer) =>
    present.has(peer.publicKey) ? peer : { ...peer, endpoint: endpoints.get(peer.publicKey) },
  )
  await writeAtomic(file, renderWireGuard({ ...target, peers }), 0o600)
  return options.exec.run('wg', ['syncconf', options.interface, file], TIMEOUT)
}

/** What cannot be kept is said, and takes nothing from the tunnel. */
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

function ip(options: WireGuardOptions, args: readonly string[]) {
  return options.exec.run('ip', args, TIMEOUT)
}

function withoutIpv6(plan: TunnelPlan): TunnelPlan {
  const four = (texts: string[]) => texts.filter((text) => !text.includes(':'))
  return { ...plan, addresses: four(plan.addresses), routes: four(plan.routes) }
}
