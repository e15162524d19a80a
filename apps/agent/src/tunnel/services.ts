import type { TakenPort } from '@postern/contract/agent/agent-report'
import { messageOf } from '@postern/host/errors'
import type { Exec } from '@postern/host/processes/exec'
import { AgentError } from '../errors.ts'
import type { Wanted } from '../wanted.ts'
import { listListeners } from './listeners.ts'
import { createTable, listDroppingChains, readPortSets } from './nft.ts'
import { type Before, createOwners, describeTaken, type Held } from './owners.ts'
import { HELD_SETS, renderServiceTable, serviceTable } from './service-table.ts'

/** Opens exactly the published ports to the edge, those on 127.0.0.1 too. */
export function createServices(exec: Exec, name: string) {
  const table = createTable(exec, serviceTable(name))
  const owners = createOwners()
  let isFirst = true
  let taken: readonly TakenPort[] = []

  async function remove(): Promise<void> {
    await routeToLoopback(exec, name, false)
    await table.remove()
  }

  return {
    /** The ports whose other listeners matter. */
    watched: owners.watched,
    /** The published ports on which another user also listens. */
    taken: () => taken,
    /** @returns what did not work, in words */
    async apply({ targets, addresses, gateway }: Wanted): Promise<string[]> {
      taken = []
      const isAny = targets.tcp.length + targets.udp.length > 0
      const own = addresses.map((address) => address.split('/')[0] ?? '')
      const listeners = await listListeners(owners.watched(targets), exec.readFile)
      const { held, taken: found } = owners.look(
        targets,
        listeners,
        own,
        isFirst ? await readBefore(exec, name) : undefined,
      )
      isFirst = false
      try {
        // The table is what keeps everything else off the loopback network.
        await table.apply(renderServiceTable(name, { targets, addresses, gateway, held }))
        await routeToLoopback(exec, name, isAny)
      } catch (error) {
        await routeToLoopback(exec, name, false)
        // A kernel that takes the table without ports could take the other: then nothing is open, rather than all.
        const closed = renderServiceTable(name, { targets: NO_PORTS, addresses, gateway: null })
        const isClosed = await table.apply(closed).then(
          () => true,
          () => false,
        )
        return [`${isClosed ? 'Nothing of this node can be reached' : PLAIN_WAY}: ${messageOf(error)}`]
      }
      taken = found
      return isAny ? [...found.map(describeTaken), ...(await listFirewallProblems(exec, name))] : []
    },
    remove,
  }
}

async function readBefore(exec: Exec, name: string): Promise<Before> {
  const sets = await readPortSets(exec, serviceTable(name))
  const of = (place: keyof Held, proto: 'tcp' | 'udp') =>
    HELD_SETS.filter((one) => one.place === place && one.proto === proto).flatMap(
      ({ label }) => sets.get(label) ?? [],
    )
  return {
    held: {
      loopback: { tcp: of('loopback', 'tcp'), udp: of('loopback', 'udp') },
      tunnel: { tcp: of('tunnel', 'tcp'), udp: of('tunnel', 'udp') },
      ipv4: { tcp: of('ipv4', 'tcp'), udp: of('ipv4', 'udp') },
    },
    published: { tcp: sets.get('tcp_ports') ?? [], udp: sets.get('udp_ports') ?? [] },
  }
}

const NO_PORTS = { tcp: [], udp: [] }
const PLAIN_WAY = "Services reach only programs that listen on the tunnel's address, not those on 127.0.0.1"

/** Lets packets from the tunnel reach 127.0.0.1. A setting of our own interface, with which it ends. */
async function routeToLoopback(exec: Exec, name: string, isOn: boolean): Promise<void> {
  const path = `/proc/sys/net/ipv4/conf/${name}/route_localnet`
  const wanted = isOn ? '1' : '0'
  const found = (await exec.readFile(path))?.trim()
  if (found === undefined || found === wanted) return
  const { code, stderr } = await exec.run('tee', [path], { input: wanted })
  if (code !== 0) throw new AgentError('failed', stderr.trim())
}

async function listFirewallProblems(exec: Exec, name: string): Promise<string[]> {
  const dropping = await listDroppingChains(exec, 'input', name)
  return dropping.map(
    (chain) =>
      `A firewall on this machine (nftables chain ${chain}) drops incoming packets unless a rule allows them. ` +
      `Allow packets that come in through ${name}`,
  )
}
