import type { Peer, TunnelSettings } from '@postern/contract/desired-state'
import type { Problem } from '@postern/contract/edge'
import type { Exec } from '@postern/host/exec'
import { planFirewall, tableOf } from '@postern/render/nftables/plan'
import { type ObservedTable, renderFirewall, renderFreshTable } from '@postern/render/nftables/table'
import { errorFrom, PartFailedError, type PartResult } from '../part.ts'
import { enableForwarding } from './forwarding.ts'
import { mentions, parseChains, parseTable } from './nft-json.ts'

export interface NftablesOptions {
  exec: Exec
  interface: string
  httpsPort: number
}

export interface NftablesWanted {
  settings: TunnelSettings
  peers: readonly Peer[]
}

export interface NftablesDriver {
  /** Makes our one table exact, from any state, and reads it back. @throws PartMissingError, PartFailedError */
  apply(wanted: NftablesWanted): Promise<PartResult>
  remove(): Promise<void>
}

const TIMEOUT = { timeoutMs: 10_000 }
const ABSENT = /no such file or directory/i

export function createNftables(options: NftablesOptions): NftablesDriver {
  return {
    async apply(wanted) {
      const plan = planFirewall({ ...options, ...wanted })
      const observed = await observeTable(options)
      const change = renderFirewall(plan, observed)
      if (change !== '') {
        const failure = await load(options.exec, change)
        // Somebody may have put in what a difference cannot take out.
        if (failure) await loadOrThrow(options.exec, observed ? renderFreshTable(plan) : change)
        if (renderFirewall(plan, await observeTable(options)) !== '')
          throw new PartFailedError(`The table inet ${plan.table} does not stay as it was set.`)
      }
      const needsInternet = wanted.peers.some((peer) => peer.allowInternet)
      if (needsInternet) await enableForwarding(options.exec)
      return {
        part: { state: 'ok', detail: 'nftables' },
        problems: needsInternet ? await findForeignDrops(options) : [],
      }
    },
    async remove() {
      const table = tableOf(options.interface)
      if (await observeTable(options)) await loadOrThrow(options.exec, `delete table inet ${table}\n`)
    },
  }
}

async function observeTable(options: NftablesOptions): Promise<ObservedTable | undefined> {
  const table = ['inet', tableOf(options.interface)]
  const { code, stdout, stderr } = await options.exec.run('nft', ['-j', 'list', 'table', ...table], TIMEOUT)
  if (code === 0) return parseTable(stdout)
  if (ABSENT.test(stderr)) return undefined
  throw errorFrom('nft', stderr)
}

/** @returns why nft refused the whole transaction, if it did. */
async function load(exec: Exec, change: string): Promise<Error | undefined> {
  const { code, stderr } = await exec.run('nft', ['-f', '-'], { ...TIMEOUT, input: change })
  // nft ends its complaint with the line it did not like and a row of carets: the first line is the reason.
  return code === 0 ? undefined : errorFrom('nft', stderr.trim().split('\n')[0] ?? '')
}

async function loadOrThrow(exec: Exec, change: string): Promise<void> {
  const failure = await load(exec, change)
  if (failure) throw failure
}

/** Docker, ufw and others drop what they do not know; what another table drops, ours cannot bring back. */
async function findForeignDrops(options: NftablesOptions): Promise<Problem[]> {
  const { code, stdout, stderr } = await options.exec.run('nft', ['-j', 'list', 'chains'], TIMEOUT)
  if (code !== 0) throw errorFrom('nft', stderr)
  const drops = parseChains(stdout).filter(
    (chain) =>
      chain.hook === 'forward' && chain.policy === 'drop' && chain.table !== tableOf(options.interface),
  )
  const problems: Problem[] = []
  for (const { family, table, name } of drops) {
    const listing = await options.exec.run('nft', ['-j', 'list', 'chain', family, table, name], TIMEOUT)
    if (listing.code === 0 && mentions(listing.stdout, options.interface)) continue
    const message = `The chain ${name} of the table ${family} ${table} (made by another program, as Docker or ufw do) drops forwarded packets: nodes do not reach the internet until it lets those of ${options.interface} pass.`
    problems.push({ scope: { kind: 'edge' }, message })
  }
  return problems
}
