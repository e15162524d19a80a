import { setTimeout as delay } from 'node:timers/promises'
import type { EdgeCertificate, TunnelSettings } from '@postern/contract/desired-state'
import type { DataPlane, PartState, Problem } from '@postern/contract/edge'
import { LIMITS } from '@postern/contract/limits'
import type { RouteSections } from '@postern/render/resolved-route'
import type { Logger } from 'pino'
import type { NftablesDriver } from './drivers/nftables.ts'
import type { WireGuardDriver } from './drivers/wireguard.ts'
import { type HeldState, rowsOf } from './held-state.ts'
import type { Names } from './names.ts'
import type { PartResult } from './part.ts'
import type { Machine } from './target-rules.ts'
import type { TargetFinder, Targets } from './targets.ts'

/** What the reconciler asks of HAProxy's driver. */
export interface HaproxyPart {
  apply(wanted: {
    routes: RouteSections
    certificates: readonly EdgeCertificate[]
    settings: TunnelSettings
    isQuick: boolean
  }): Promise<Problem[]>
  /** The last apply left something for the next one, which shall come at once. */
  needsAnotherApply(): boolean
  check(): Promise<PartState>
}

export interface ReconcileParts {
  haproxy: HaproxyPart
  wireguard: WireGuardDriver
  nftables: NftablesDriver
  names: Pick<Names, 'isBusy' | 'settled'>
  targets: TargetFinder
  /** What this machine is connected to and listens on now. */
  observeMachine(): Machine
  /** The routes that HAProxy uses from now on. */
  onRoutes(routes: RouteSections): void
  log: Logger
}

/** How much of the machine a pass looks at. */
export interface Effort {
  /** What an earlier pass found out about the parts below HAProxy, when they need not be looked at again. */
  kept: Below | undefined
  /** What HAProxy held last is believed. */
  isQuick: boolean
}

export interface Below {
  wireguard: PartResult
  nftables: PartResult
}

export interface Outcome {
  /** True when everything that is there was read back and is as wanted. */
  isApplied: boolean
  /** The next pass shall come at once: this one had to leave something, so as not to hold up what is newer. */
  needsAnotherApply: boolean
  problems: Problem[]
  dataPlane: DataPlane
  below: Below
}

/** How long a pass waits for names that it has just begun to look up, in ms; others come with a later pass. */
const NAME_GRACE = 10

/** How long the tunnel waits for HAProxy to lead visitors away from peers that go, in ms: normally it is done by then. */
const HEAD_START = 250

/** Makes this machine equal to the state. A part that fails never keeps the others from being made right. */
export async function reconcile(
  parts: ReconcileParts,
  state: HeldState,
  { kept, isQuick }: Effort,
): Promise<Outcome> {
  const haproxyApplied = applyHaproxy(parts, state, isQuick)
  const below = kept ?? (await applyBelow(parts, state, haproxyApplied))
  const above = await haproxyApplied
  const { wireguard, nftables } = below
  const dataPlane = { haproxy: above.part, wireguard: wireguard.part, nftables: nftables.part }
  const needsAnotherApply = above.part.state === 'ok' && parts.haproxy.needsAnotherApply()
  return {
    isApplied: isAllRight(dataPlane) && !needsAnotherApply,
    needsAnotherApply,
    problems: tidy([
      ...above.problems,
      ...wireguard.problems,
      ...nftables.problems,
      ...tunnelProblems(state, wireguard.part),
    ]),
    dataPlane,
    below,
  }
}

/** A part that is not there is said so and stands in nobody's way, but without HAProxy nothing is published. */
function isAllRight({ haproxy, wireguard, nftables }: DataPlane): boolean {
  return haproxy.state === 'ok' && wireguard.state !== 'failed' && nftables.state !== 'failed'
}

/**
 * The rules stand before the tunnel does, so that there is no moment without them.
 * @param haproxyApplied resolves when HAProxy sends no visitor to a removed peer any more, where requests would hang
 */
async function applyBelow(
  parts: ReconcileParts,
  state: HeldState,
  haproxyApplied: Promise<unknown>,
): Promise<Below> {
  await Promise.race([haproxyApplied, delay(HEAD_START)])
  const wanted = { settings: state.settings, peers: state.peers }
  const nftables = await attempt(parts, 'nftables', () => parts.nftables.apply(wanted))
  const wireguard = await attempt(parts, 'WireGuard', () => parts.wireguard.apply(wanted))
  return { wireguard, nftables }
}

async function applyHaproxy(parts: ReconcileParts, state: HeldState, isQuick: boolean): Promise<PartResult> {
  const { certificates, settings } = state
  const unresolved: Problem[] = []
  const result = await attempt(parts, 'HAProxy', async () => {
    const { routes, problems } = await findTargets(parts, state)
    unresolved.push(...problems)
    const found = await parts.haproxy.apply({ routes, certificates, settings, isQuick })
    parts.onRoutes(routes)
    return { part: await parts.haproxy.check(), problems: found }
  })
  return { ...result, problems: [...unresolved, ...result.problems] }
}

async function findTargets(parts: ReconcileParts, state: HeldState): Promise<Targets> {
  const { settings, peers, sections } = state
  const find = () =>
    parts.targets.resolve(sections.routes, { settings, peers, machine: parts.observeMachine() })
  const first = find()
  if (!parts.names.isBusy()) return first
  await parts.names.settled(NAME_GRACE)
  return find()
}

async function attempt(
  parts: ReconcileParts,
  name: string,
  apply: () => Promise<PartResult>,
): Promise<PartResult> {
  try {
    return await apply()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const isMissing = code === 'part_missing' || code === 'program_missing'
    const detail = error instanceof Error ? error.message : String(error)
    parts.log.debug({ err: error }, `${name} is not as wanted`)
    const message = `${name}: ${detail}`
    return {
      part: { state: isMissing ? 'missing' : 'failed', detail },
      problems: [{ scope: { kind: 'edge' }, message }],
    }
  }
}

/** Without a tunnel no service of a node is reached; the services say so themselves. */
function tunnelProblems(state: HeldState, part: PartState): Problem[] {
  if (part.state === 'ok') return []
  return rowsOf(state.sections.routes)
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
