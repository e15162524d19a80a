import { lookup } from 'node:dns/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { messageOf } from '@postern/host/errors'
import { networkReason } from '@postern/host/http'
import { findIp, formatIp, isIp } from '@postern/net/ip'

const PATIENCE = 10_000
const MOST = 16

/** The address of the server's end, chosen among the addresses of its name. */
export function createEndpoint(listAddresses: (host: string) => Promise<string[]>) {
  let name = ''
  let known: string[] = []
  let chosen: string | undefined

  return {
    /** Resolves the name again, and takes the next address when `moveOn` is set. @returns a problem in words. */
    async refresh(host: string, moveOn: boolean): Promise<string | undefined> {
      const isNew = host !== name
      try {
        const found = await listAddresses(host)
        if (found.length === 0) return `${host} has no address in DNS`
        const before = chosen === undefined || isNew ? -1 : found.indexOf(chosen)
        chosen = found[before < 0 ? 0 : (before + (moveOn ? 1 : 0)) % found.length]
        known = found
        name = host
        return undefined
      } catch (error) {
        // The last address is better than none, if the name is the same.
        if (isNew) chosen = undefined
        if (isNew) known = []
        return networkReason(host, error) || messageOf(error)
      }
    },
    /** The chosen address, or undefined while the name has never resolved. */
    current: () => chosen,
    all: (): readonly string[] => known,
  }
}
export type Endpoint = ReturnType<typeof createEndpoint>

/** A host's addresses, in the order to try them. @throws the resolver's error, or a timeout */
export async function listAddresses(host: string): Promise<string[]> {
  if (isIp(host)) return [host]
  // The system's resolver cannot be cancelled; a late answer is ignored.
  const found = await Promise.race([
    lookup(host, { all: true, verbatim: true }),
    pause(PATIENCE, undefined, { ref: false }),
  ])
  if (!found) throw new LookupTimeoutError('the name server does not answer')
  return found.slice(0, MOST).flatMap(({ address }) => {
    const ip = findIp(address)
    return ip ? [formatIp(ip)] : []
  })
}

class LookupTimeoutError extends Error {
  readonly code = 'EAI_AGAIN'
}
