import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Peer } from '@postern/contract/desired-state'
import type { PartState, Problem } from '@postern/contract/edge'
import { rowsOf } from '@postern/contract/sections'
import { createSingleFlight } from '@postern/host/tasks'
import { portRoutesOf, type ResolvedPortRoute } from '@postern/render/resolved-route'
import type { Logger } from 'pino'
import type { NftablesDriver } from './drivers/nftables/driver.ts'
import { applyPart, logPart, type PartResult } from './drivers/part.ts'
import type { WireGuardDriver } from './drivers/tunnel/driver.ts'
import { type HeldState, routesOf } from './held-state.ts'
import type { Wanted } from './wanted.ts'

export interface TunnelLoopOptions {
  wireguard: Pick<WireGuardDriver, 'apply' | 'admit' | 'isAsLeft'>
  nftables: Pick<NftablesDriver, 'apply' | 'isAsLeft' | 'isIsolating'>
  log: Logger
  /** What is to be made now; undefined before the first state. */
  wanted(): Wanted | undefined
  /** Whether links, addresses, routes or firewall rules may have changed since the last call. */
  hasKernelChanged(): boolean
  /** Resolves when HAProxy sends no visitor to a removed peer any more, where requests would hang. */
  haproxyIdle(): Promise<void>
  /** Tunnel or firewall are otherwise than before, or of a newer revision. */
  onMade(): void
  /** The tunnel has other networks of gateways than HAProxy was told. */
  onOtherNetworks(): void
}

/** How an apply left tunnel and firewall, and of what it made them. */
interface Made {
  wireguard: PartResult
  nftables: PartResult
  peers: HeldState['peers']
  settings: HeldState['settings']
  /** The UDP services that the firewall was made for; undefined when nobody knew where they lead. */
  udp: readonly ResolvedPortRoute[] | undefined
}

/** How long the tunnel waits for HAProxy to stop using peers that go, in ms; usually HAProxy is faster. */
const HEAD_START = 250
/** So many checks leave tunnel and firewall alone while nothing reports a change of them. */
const TRUSTED_CHECKS = 11

/**
 * Makes tunnel and firewall as wanted, one apply at a time: the firewall first, so that the tunnel is never without
 * it. An apply does nothing while the same is wanted as before, and a check only where something may differ.
 */
export class TunnelLoop {
  readonly #options: TunnelLoopOptions
  readonly #applying = createSingleFlight(() => this.#apply())
  /** The newest revision that each was read back as wanted. */
  readonly inForce = { wireguard: 0, nftables: 0 }
  /** Undefined before the first apply. */
  made: Made | undefined
  #isCheckDue = true
  /** So many checks believe that all is as it was left. */
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

  /** They are not as they were left. */
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
    const { peers, settings } = wanted.state
    const before = this.made
    const isSame = before?.peers === peers && before.settings === settings
    if (isSame && !(isCheck && (await this.#isDue(before))))
      this.#take(wanted.state, await this.#updateFirewall(before, udp))
    else this.#take(wanted.state, await this.#makeBoth(wanted, udp))
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

  async #makeBoth({ state, admitted }: Wanted, udp: Made['udp']): Promise<Made> {
    const { wireguard, nftables, log, haproxyIdle, onOtherNetworks } = this.#options
    await Promise.race([haproxyIdle(), delay(HEAD_START)])
    const { settings, peers } = state
    const firewall = await this.#applyFirewall(state, udp)
    const isSafe = nftables.isIsolating()
    const tunnel = await applyPart('WireGuard', log, () =>
      wireguard.apply({ settings, peers: isSafe ? peers : [] }),
    )
    if (isSafe && !haveSameNetworks(await wireguard.admit(state), await admitted)) onOtherNetworks()
    const shown = isSafe ? tunnel : { ...tunnel, part: shut(firewall.part) }
    return { wireguard: shown, nftables: firewall, peers, settings, udp }
  }

  /** A UDP service that changes is no reason to look at the tunnel. */
  async #updateFirewall(made: Made, udp: Made['udp']): Promise<Made> {
    const isSame =
      made.udp?.length === udp?.length && udp?.every((route, index) => route === made.udp?.[index])
    if (!udp || isSame) return made
    return { ...made, nftables: await this.#applyFirewall(made, udp), udp }
  }

  #applyFirewall(of: Pick<HeldState, 'settings' | 'peers'>, udp: Made['udp']): Promise<PartResult> {
    const { nftables, log } = this.#options
    const { settings, peers } = of
    return applyPart('nftables', log, () => nftables.apply({ settings, peers, udp }))
  }

  /** What fails is tried again with every check, and not with each change, which would wait for it. */
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

/** Those over UDP. A row is the same object as long as nothing in it changes. */
function udpOf({ sections }: Awaited<Wanted['targets']>): ResolvedPortRoute[] {
  return portRoutesOf(sections).filter(({ proto }) => proto === 'udp')
}

function haveSameNetworks(a: readonly Peer[], b: readonly Peer[]): boolean {
  return a === b || a.every(({ subnets }, index) => isDeepStrictEqual(subnets, b[index]?.subnets))
}

/** Without the firewall, nodes would reach all of this machine. */
function shut({ state }: PartState): PartState {
  const detail = 'No node is let in as long as the firewall does not keep nodes from this machine.'
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
