import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Peer } from '@postern/contract/edge/desired-state'
import type { PartState, Problem } from '@postern/contract/edge/edge'
import { rowsOf } from '@postern/contract/sections'
import { createSingleFlight } from '@postern/host/tasks'
import { portRoutesOf, type ResolvedPortRoute } from '@postern/render/resolved-route'
import type { Logger } from 'pino'
import type { NftablesDriver } from './drivers/nftables/driver.ts'
import { applyPart, logPart, type PartResult } from './drivers/part.ts'
import type { WireGuardDriver } from './drivers/tunnel/driver.ts'
import type { Fronts } from './fronts.ts'
import { type HeldState, routesOf } from './state/held-state.ts'
import type { Wanted } from './state/wanted.ts'

export interface TunnelLoopOptions {
  wireguard: Pick<WireGuardDriver, 'apply' | 'admit' | 'isAsLeft'>
  nftables: Pick<NftablesDriver, 'apply' | 'isAsLeft' | 'isIsolating'>
  fronts: Pick<Fronts, 'find'>
  log: Logger
  /** The wanted state now; undefined before the first one. */
  wanted(): Wanted | undefined
  /** Whether links, addresses, routes or firewall rules may have changed since the last call. */
  hasKernelChanged(): boolean
  /** Resolves when HAProxy no longer sends visitors to a removed peer, where requests would hang. */
  haproxyIdle(): Promise<void>
  /** Tunnel or firewall have changed, or have a newer revision. */
  onMade(): void
  /** The tunnel has other networks of gateways than HAProxy's routes assume. */
  onOtherNetworks(): void
}

/** The state of tunnel and firewall after an apply, and what was applied. */
interface Made {
  wireguard: PartResult
  nftables: PartResult
  peers: HeldState['peers']
  settings: HeldState['settings']
  /** The UDP services that the firewall was made for; undefined when their targets were unknown. */
  udp: readonly ResolvedPortRoute[] | undefined
  fronts: readonly string[]
}

/** What the firewall needs beside the state, and what may change without it. */
type Resolved = Pick<Made, 'udp' | 'fronts'>

/** How long the tunnel waits for HAProxy to stop using peers that go, in ms; usually HAProxy is faster. */
const HEAD_START = 250
/** How many checks leave tunnel and firewall alone while no event reports a change. */
const TRUSTED_CHECKS = 11

/**
 * Applies the wanted state to tunnel and firewall, one apply at a time: the firewall first, so that the tunnel is
 * never without it. An apply does nothing if the wanted state is unchanged, and a check acts only where something may
 * differ.
 */
export class TunnelLoop {
  readonly #options: TunnelLoopOptions
  readonly #applying = createSingleFlight(() => this.#apply())
  /** The newest revision of each that was confirmed by reading back. */
  readonly inForce = { wireguard: 0, nftables: 0 }
  /** Undefined before the first apply. */
  made: Made | undefined
  #isCheckDue = true
  /** How many checks assume that nothing has changed. */
  #trust = 0

  constructor(options: TunnelLoopOptions) {
    this.#options = options
  }

  apply(): void {
    this.#applying.trigger()
  }

  check(): void {
    this.#isCheckDue = true
    this.#applying.trigger()
  }

  /** They are no longer in the state they were left in. */
  repair(): void {
    this.#trust = 0
    this.check()
  }

  async close(): Promise<void> {
    this.#applying.close()
    await this.#applying.idle()
  }

  async #apply(): Promise<void> {
    const wanted = this.#options.wanted()
    if (!wanted) return
    const isCheck = this.#isCheckDue
    this.#isCheckDue = false
    const udp = await wanted.targets.then(udpOf, () => undefined)
    const resolved = { udp, fronts: this.#options.fronts.find(wanted.state) }
    const { peers, settings } = wanted.state
    const before = this.made
    const isSame = before?.peers === peers && before.settings === settings
    if (isSame && !(isCheck && (await this.#isDue(before))))
      this.#take(wanted.state, await this.#updateFirewall(before, resolved))
    else this.#take(wanted.state, await this.#makeBoth(wanted, resolved))
  }

  #take({ revision }: HeldState, made: Made): void {
    const before = this.made
    let isNews = made !== before
    this.made = made
    for (const name of ['wireguard', 'nftables'] as const) {
      const { part } = made[name]
      logPart(this.#options.log, name, before?.[name].part, part)
      if (part.state === 'failed' || this.inForce[name] === revision) continue
      this.inForce[name] = revision
      isNews = true
    }
    if (isNews) this.#options.onMade()
  }

  async #makeBoth({ state, admitted }: Wanted, resolved: Resolved): Promise<Made> {
    const { wireguard, nftables, log, haproxyIdle, onOtherNetworks } = this.#options
    await Promise.race([haproxyIdle(), delay(HEAD_START)])
    const { settings, peers } = state
    const firewall = await this.#applyFirewall(state, resolved)
    const isSafe = nftables.isIsolating()
    const tunnel = await applyPart('WireGuard', log, () =>
      wireguard.apply({ settings, peers: isSafe ? peers : [] }),
    )
    if (isSafe && !haveSameNetworks(await wireguard.admit(state), await admitted)) onOtherNetworks()
    const shown = isSafe ? tunnel : { ...tunnel, part: shut(firewall.part) }
    return { wireguard: shown, nftables: firewall, peers, settings, ...resolved }
  }

  /** A changed UDP service or front is no reason to check the tunnel. */
  async #updateFirewall(made: Made, resolved: Resolved): Promise<Made> {
    const { udp, fronts } = resolved
    const isSame =
      made.udp?.length === udp?.length && udp?.every((route, index) => route === made.udp?.[index])
    if (isDeepStrictEqual(made.fronts, fronts) && (!udp || isSame)) return made
    return { ...made, nftables: await this.#applyFirewall(made, resolved), ...resolved }
  }

  #applyFirewall(of: Pick<HeldState, 'settings' | 'peers'>, resolved: Resolved): Promise<PartResult> {
    const { nftables, log } = this.#options
    const { settings, peers } = of
    return applyPart('nftables', log, () => nftables.apply({ settings, peers, ...resolved }))
  }

  /** A failed part is tried again with every check, and not with every change, which would have to wait for it. */
  async #isDue({ wireguard, nftables }: Made): Promise<boolean> {
    if (wireguard.part.state !== 'ok' || nftables.part.state !== 'ok') return true
    const isTrusted = !this.#options.hasKernelChanged() && this.#trust-- > 0
    if (isTrusted && (await this.#areAsLeft().catch(() => false))) return false
    this.#trust = TRUSTED_CHECKS
    return true
  }

  async #areAsLeft(): Promise<boolean> {
    const { wireguard, nftables } = this.#options
    return (await wireguard.isAsLeft()) && (await nftables.isAsLeft())
  }
}

/** The UDP services. An unchanged row is the same object. */
function udpOf({ sections }: Awaited<Wanted['targets']>): ResolvedPortRoute[] {
  return portRoutesOf(sections).filter(({ proto }) => proto === 'udp')
}

function haveSameNetworks(a: readonly Peer[], b: readonly Peer[]): boolean {
  return a === b || a.every(({ subnets }, index) => isDeepStrictEqual(subnets, b[index]?.subnets))
}

/** Without the firewall, nodes could reach all of this machine. */
function shut({ state }: PartState): PartState {
  const detail = 'No node is let in until the firewall keeps nodes from this machine.'
  return { state: state === 'missing' ? 'missing' : 'failed', detail }
}

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
