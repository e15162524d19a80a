import { setTimeout as delay } from 'node:timers/promises'
import type { Peer, TunnelSettings } from '@postern/contract/edge/desired-state'
import { publicKeyOf } from '@postern/host/wireguard-keys'
import { admitPeers, type OccupiedNetwork, type PlanInput } from '@postern/render/wireguard/plan'
import type { Network } from './observe.ts'

export interface WireGuardWanted {
  settings: TunnelSettings
  peers: readonly Peer[]
}

export interface AdmissionOptions {
  gatewayNetworks?: readonly string[] | null
  /** Reads this machine's network. */
  observe(): Promise<Network>
  /** In ms; it only grows. */
  clock(): number
}

/** How long the networks of gateways stay in while this machine cannot be read, in ms. */
const MEMORY = 60_000
/** How long HAProxy waits for a reading, in ms. The first time there is no previous one. */
const PATIENCE = { first: 10_000, later: 1_000 }
/** How old the reading that HAProxy waited for may be to count as the tunnel's first, in ms. */
const FRESH = 1_000

/**
 * Decides which networks of gateways are in the tunnel, by the last reading of this machine. While `ip` hangs or
 * fails, those in the tunnel stay for a minute and no other comes in.
 */
export function createAdmission({ gatewayNetworks = null, observe, clock }: AdmissionOptions) {
  let last: (WireGuardWanted & { admitted: readonly Peer[] }) | undefined
  let brokenSince: number | undefined
  let begun: { look: Promise<Network>; endedAt?: number } | undefined

  const look = async (wanted: WireGuardWanted): Promise<Network> => {
    try {
      const network = await observe()
      last = { ...wanted, admitted: admitPeers(planInput(wanted, network.occupied, gatewayNetworks)) }
      brokenSince = undefined
      return network
    } catch (error) {
      brokenSince ??= clock()
      throw error
    }
  }

  const begin = async (wanted: WireGuardWanted): Promise<void> => {
    const mine: typeof begun = { look: look(wanted) }
    begun = mine
    const end = () => {
      mine.endedAt = clock()
    }
    const ms = last ? PATIENCE.later : PATIENCE.first
    await Promise.race([mine.look.then(end, end), delay(ms, undefined, { ref: false })])
    if (mine.endedAt === undefined) brokenSince ??= clock()
  }

  const isLast = ({ settings, peers }: WireGuardWanted) => last?.settings === settings && last.peers === peers

  return {
    look,
    /** The first reading of an apply, which may have been begun for HAProxy. */
    async lookOnce(wanted: WireGuardWanted): Promise<Network> {
      const { look: early, endedAt } = begun ?? {}
      begun = undefined
      return early && (endedAt === undefined || clock() - endedAt < FRESH) ? early : look(wanted)
    },
    /**
     * After a long time without a reading no network counts as behind a gateway: packets might leave this machine
     * another way.
     */
    async admit(wanted: WireGuardWanted): Promise<readonly Peer[]> {
      // Most installations have no gateway, and starting a program would delay the change.
      if (wanted.peers.every(({ subnets }) => subnets.length === 0)) return wanted.peers
      if (!isLast(wanted) && brokenSince === undefined) await begin(wanted)
      const isForgotten = brokenSince !== undefined && clock() - brokenSince > MEMORY
      if (last && isLast(wanted) && !isForgotten) return last.admitted
      return asBefore(wanted, isForgotten ? [] : (last?.admitted ?? []), gatewayNetworks)
    },
  }
}

/** Those of their networks that were in the tunnel. */
function asBefore(
  wanted: WireGuardWanted,
  before: readonly Peer[],
  gatewayNetworks: PlanInput['gatewayNetworks'],
): readonly Peer[] {
  const known = new Map(before.map(({ nodeId, subnets }) => [nodeId, subnets]))
  const peers = wanted.peers.map((peer) => ({
    ...peer,
    subnets: peer.subnets.filter((subnet) => known.get(peer.nodeId)?.includes(subnet)),
  }))
  return admitPeers(planInput({ ...wanted, peers }, [], gatewayNetworks))
}

export function planInput(
  wanted: WireGuardWanted,
  occupied: readonly OccupiedNetwork[],
  gatewayNetworks: PlanInput['gatewayNetworks'] = null,
): PlanInput {
  return { ...wanted, ownPublicKey: publicKeyOf(wanted.settings.tunnelPrivateKey), occupied, gatewayNetworks }
}
