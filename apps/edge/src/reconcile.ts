import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type {
  Challenge,
  EdgeCertificate,
  Peer,
  PortRoute,
  Route,
  TunnelSettings,
} from '@postern/contract/desired-state'
import type { PartState, Problem } from '@postern/contract/edge'
import { LIMITS } from '@postern/contract/limits'
import { rowsOf } from '@postern/contract/sections'
import { codeOf, messageOf } from '@postern/host/errors'
import type { SignInSections } from '@postern/render/haproxy/maps/sign-in'
import { portRoutesOf, type ResolvedPortRoute, type RouteSections } from '@postern/render/resolved-route'
import type { Logger } from 'pino'
import type { NftablesDriver } from './drivers/nftables/driver.ts'
import type { PartResult } from './drivers/part.ts'
import type { WireGuardDriver } from './drivers/tunnel/driver.ts'
import { type HeldState, routesOf } from './held-state.ts'
import type { Machine } from './machine.ts'
import type { Names } from './names.ts'
import type { TargetFinder, Targets } from './targets.ts'

/** What the reconciler asks of HAProxy's driver. */
export interface HaproxyPart {
  apply(wanted: {
    routes: RouteSections
    signIns: SignInSections
    certificates: readonly EdgeCertificate[]
    challenges: readonly Challenge[]
    settings: TunnelSettings
    isQuick: boolean
  }): Promise<Problem[]>
  /** The last apply left something for the next one, which should follow at once. */
  needsAnotherApply(): boolean
  heldPorts(): number[]
  /** As the last apply or check left it. */
  state(): PartState
  check(): Promise<PartState>
}

export interface ReconcileParts {
  haproxy: HaproxyPart
  wireguard: WireGuardDriver
  nftables: NftablesDriver
  names: Pick<Names, 'isBusy' | 'refresh' | 'settled'>
  targets: TargetFinder<Route | PortRoute>
  /** The networks and ports of this machine now. */
  observeMachine(): Machine
  /** The routes that HAProxy uses from now on. */
  onRoutes(routes: RouteSections): void
  log: Logger
}

/** How much of the machine an apply checks. */
export interface Scope {
  /** HAProxy is believed to hold what it held last. */
  isQuick: boolean
  /** Undefined while an earlier apply still has tunnel and firewall in hand. */
  others:
    | {
        /** How an earlier apply left them, where the same peers are wanted. */
        kept: TunnelAndFirewall | undefined
        /** Whether they are made right even so. */
        isDue(): Promise<boolean>
      }
    | undefined
}

export interface HaproxyOutcome extends PartResult {
  /** Read back, and as wanted. */
  isInForce: boolean
  /** It goes on with what it has, and only what is new waits. */
  isDiskFull: boolean
  /** The next apply should follow at once: this one left something so as not to delay a newer state. */
  needsAnotherApply: boolean
}

export interface TunnelAndFirewall {
  wireguard: PartResult
  nftables: PartResult
  /** The UDP services that the firewall was made for. */
  udp: readonly ResolvedPortRoute[] | undefined
  /** The tunnel has other networks of gateways than HAProxy was told. */
  needsAnotherApply: boolean
}

/** Two lanes: whatever tunnel and firewall wait for, HAProxy's changes do not. */
export interface Lanes {
  haproxy: Promise<HaproxyOutcome>
  others: Promise<TunnelAndFirewall> | undefined
}

/** How long an apply waits for look-ups that it has just started, in ms; slower ones come with a later apply. */
const NAME_GRACE = 10

/** How long the tunnel waits for HAProxy to stop using peers that go, in ms; usually HAProxy is faster. */
const HEAD_START = 250

/** Makes this machine equal to the state. A part that fails never keeps the others from being made right. */
export function reconcile(parts: ReconcileParts, state: HeldState, { isQuick, others }: Scope): Lanes {
  const admitted = parts.wireguard.admit(state)
  const targets = findTargets(parts, state, admitted)
  const haproxy = applyHaproxy(parts, state, targets, isQuick)
  const secure = async ({ kept, isDue }: NonNullable<Scope['others']>) => {
    const udp = await targets.then(findUdp, () => undefined)
    if (kept && !(await isDue())) return updateFirewall(parts, state, kept, udp)
    return applyTunnelAndFirewall(parts, state, udp, haproxy, await admitted)
  }
  return { haproxy, others: others && secure(others) }
}

/**
 * Firewall rules first, so that the tunnel is never without them.
 * @param haproxyApplied resolves when HAProxy sends no visitor to a removed peer any more, where requests would hang
 */
async function applyTunnelAndFirewall(
  parts: ReconcileParts,
  state: HeldState,
  udp: readonly ResolvedPortRoute[] | undefined,
  haproxyApplied: Promise<unknown>,
  admitted: readonly Peer[],
): Promise<TunnelAndFirewall> {
  await Promise.race([haproxyApplied, delay(HEAD_START)])
  const { settings, peers } = state
  const nftables = await applyFirewall(parts, state, udp)
  const isSafe = parts.nftables.isIsolating()
  const wireguard = await attempt(parts, 'WireGuard', () =>
    parts.wireguard.apply({ settings, peers: isSafe ? peers : [] }),
  )
  const part = isSafe ? wireguard.part : shut(nftables.part)
  const needsAnotherApply = isSafe && !haveSameNetworks(await parts.wireguard.admit(state), admitted)
  return { wireguard: { ...wireguard, part }, nftables, udp, needsAnotherApply }
}

function haveSameNetworks(a: readonly Peer[], b: readonly Peer[]): boolean {
  return a === b || a.every(({ subnets }, index) => isDeepStrictEqual(subnets, b[index]?.subnets))
}

/** Without the firewall, nodes would reach all of this machine. */
function shut({ state }: PartState): PartState {
  const detail = 'No node is let in as long as the firewall does not keep nodes from this machine.'
  return { state: state === 'missing' ? 'missing' : 'failed', detail }
}

function applyFirewall(
  parts: ReconcileParts,
  { settings, peers }: HeldState,
  udp: readonly ResolvedPortRoute[] | undefined,
): Promise<PartResult> {
  return attempt(parts, 'nftables', () => parts.nftables.apply({ settings, peers, udp }))
}

/** A UDP service that changes is no reason to look at the tunnel. */
async function updateFirewall(
  parts: ReconcileParts,
  state: HeldState,
  kept: TunnelAndFirewall,
  udp: readonly ResolvedPortRoute[] | undefined,
): Promise<TunnelAndFirewall> {
  const isSame = kept.udp?.length === udp?.length && udp?.every((route, index) => route === kept.udp?.[index])
  if (!udp || isSame) return { ...kept, needsAnotherApply: false }
  return { ...kept, nftables: await applyFirewall(parts, state, udp), udp, needsAnotherApply: false }
}

/** A row is the same object as long as nothing in it changes. */
function findUdp({ sections }: Targets<Route | PortRoute>): ResolvedPortRoute[] {
  return portRoutesOf(sections).filter(({ proto }) => proto === 'udp')
}

async function applyHaproxy(
  parts: ReconcileParts,
  state: HeldState,
  targets: ReturnType<typeof findTargets>,
  isQuick: boolean,
): Promise<HaproxyOutcome> {
  const { certificates, settings, sections } = state
  const challenges = rowsOf(sections.challenges)
  const unresolved: Problem[] = []
  const result = await attempt(parts, 'HAProxy', async () => {
    const { sections: routes, problems } = await targets
    unresolved.push(...problems)
    const { signIns } = sections
    const found = await parts.haproxy.apply({ routes, signIns, certificates, challenges, settings, isQuick })
    parts.onRoutes(routes)
    return { part: parts.haproxy.state(), problems: found }
  })
  if (result.isDiskFull)
    return {
      part: parts.haproxy.state(),
      problems: result.problems,
      isInForce: false,
      isDiskFull: true,
      needsAnotherApply: false,
    }
  const isOk = result.part.state === 'ok'
  const needsAnotherApply = isOk && parts.haproxy.needsAnotherApply()
  return {
    part: result.part,
    problems: [...unresolved, ...result.problems],
    isInForce: isOk && !needsAnotherApply,
    isDiskFull: false,
    needsAnotherApply,
  }
}

async function findTargets(
  parts: ReconcileParts,
  { settings, sections }: HeldState,
  admitted: Promise<readonly Peer[]>,
): Promise<Targets<Route | PortRoute>> {
  const peers = await admitted
  const find = () =>
    parts.targets.resolve(routesOf(sections), { settings, peers, machine: parts.observeMachine() })
  const first = find()
  if (!parts.names.isBusy()) return first
  await parts.names.settled(NAME_GRACE)
  return find()
}

async function attempt(
  parts: ReconcileParts,
  name: string,
  apply: () => Promise<PartResult>,
): Promise<PartResult & { isDiskFull?: boolean }> {
  try {
    return await apply()
  } catch (error) {
    const isMissing = ['part_missing', 'program_missing'].includes(codeOf(error))
    const isDiskFull = ['ENOSPC', 'EDQUOT'].includes(codeOf(error))
    const detail = isDiskFull ? DISK_FULL : messageOf(error)
    parts.log.debug({ err: error }, `${name} is not as wanted`)
    const message = isDiskFull ? DISK_FULL : `${name}: ${detail}`
    return {
      part: { state: isMissing ? 'missing' : 'failed', detail },
      problems: [{ scope: { kind: 'edge' }, message }],
      isDiskFull,
    }
  }
}

const DISK_FULL = "The edge's disk is full: what runs keeps running, and changes wait. Free some space there."

/** Without a tunnel no service of a node is reachable, and each one shows it. */
export function tunnelProblems(state: HeldState, part: PartState): Problem[] {
  if (part.state === 'ok') return []
  return rowsOf(routesOf(state.sections))
    .filter((route) => route.enabled && route.node.kind !== 'local')
    .map(({ id }) => ({
      scope: { kind: 'service', id },
      message: `The tunnel of the edge is down: ${part.detail}`,
    }))
}

/** As the contract allows them: each message and their number are limited. */
export function tidy(problems: readonly Problem[]): Problem[] {
  return problems
    .slice(0, LIMITS.edgeProblems)
    .map(({ scope, message }) => ({ scope, message: message.slice(0, LIMITS.problemLength) }))
}
