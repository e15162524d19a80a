import type { Problem } from '@postern/contract/edge/edge'
import type { Exec } from '@postern/host/processes/exec'
import { tableOf } from '@postern/render/nftables/plan'
import { errorFrom } from '../part.ts'
import { mayLetPortIn, mentions, type NftChain, parseChains } from './nft-json.ts'

/** Docker, ufw and others drop packets that they do not know, and no rule in our table can undo it. */

interface Place {
  exec: Exec
  interface: string
  httpsPort: number
}

const TIMEOUT = { timeoutMs: 30_000 }

/** Chains that drop forwarded packets, which nodes or services need. */
export async function listForwardDrops(
  place: Place,
  needs: { internet: boolean; services: readonly { id: number }[] },
): Promise<Problem[]> {
  const passes = (listing: string) => mentions(listing, place.interface)
  const drops = await findForeignDrops(place, 'forward', passes)
  const say = (scope: Problem['scope'], whom: string) =>
    drops.map(({ family, table, name }) => ({
      scope,
      message: `The chain ${name} of the table ${family} ${table} (made by another program, as Docker or ufw do) drops forwarded packets: ${whom} until it lets those of ${place.interface} pass.`,
    }))
  return [
    ...(needs.internet ? say({ kind: 'edge' }, 'nodes do not reach the internet') : []),
    ...needs.services.flatMap(({ id }) => say({ kind: 'service', id }, 'visitors do not reach this service')),
  ]
}

/** Whether a problem of an apply is that another program's firewall lets no visitor in. */
export function isClosedDoor({ message }: Problem): boolean {
  return /^Visitors cannot reach anything until the chain /.test(message)
}

/** A firewall like ufw that keeps visitors from HAProxy, which nothing else here would show. */
export async function listClosedDoors(place: Place): Promise<Problem[]> {
  const { httpsPort } = place
  const closed = await findForeignDrops(place, 'input', (listing) => mayLetPortIn(listing, httpsPort))
  return closed.map(({ family, table, name }) => ({
    scope: { kind: 'edge' },
    message: `Visitors cannot reach anything until the chain ${name} of the table ${family} ${table} lets TCP port ${httpsPort} in. Another program made it, as ufw or firewalld do.`,
  }))
}

/** @param passes whether a table, as nft lists it, lets our packets through */
async function findForeignDrops(
  { exec, interface: own }: Place,
  hook: 'input' | 'forward',
  passes: (listing: string) => boolean,
): Promise<NftChain[]> {
  const { code, stdout, stderr } = await exec.run('nft', ['-j', 'list', 'chains'], TIMEOUT)
  if (code !== 0) throw errorFrom('nft', stderr)
  const suspects = parseChains(stdout).filter(
    (chain) => chain.hook === hook && chain.policy === 'drop' && chain.table !== tableOf(own),
  )
  const drops: NftChain[] = []
  for (const chain of suspects) {
    // A chain that it jumps to may be the one that lets ours pass.
    const args = ['-j', 'list', 'table', chain.family, chain.table]
    const listing = await exec.run('nft', args, TIMEOUT)
    if (listing.code !== 0 || !passes(listing.stdout)) drops.push(chain)
  }
  return drops
}
