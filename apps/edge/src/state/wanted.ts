import type { Peer, PortRoute, Route } from '@postern/contract/edge/desired-state'
import type { WireGuardDriver } from '../drivers/tunnel/driver.ts'
import type { Machine } from '../machine.ts'
import type { Names } from '../names.ts'
import type { TargetFinder, Targets } from '../targets.ts'
import { type HeldState, routesOf } from './held-state.ts'

/** A state with the addresses that its services lead to, resolved once for HAProxy and for the firewall. */
export interface Wanted {
  state: HeldState
  /** Its peers with those of their networks that are in the tunnel. */
  admitted: Promise<readonly Peer[]>
  /** Rejects when this machine's network cannot be read. */
  targets: Promise<Targets<Route | PortRoute>>
}

export interface WantedParts {
  wireguard: Pick<WireGuardDriver, 'admit'>
  names: Pick<Names, 'isBusy' | 'settled'>
  targets: TargetFinder<Route | PortRoute>
  /** The networks and ports of this machine now. */
  observeMachine(): Machine
}

/** How long an apply waits for look-ups that it has just started, in ms; slower ones are used by a later apply. */
const NAME_GRACE = 10

export function resolveWanted(parts: WantedParts, state: HeldState): Wanted {
  const admitted = parts.wireguard.admit(state)
  const targets = findTargets(parts, state, admitted)
  // A newer state may come before anybody reads them.
  targets.catch(() => undefined)
  return { state, admitted, targets }
}

async function findTargets(
  parts: WantedParts,
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
