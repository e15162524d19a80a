import { lookup } from 'node:dns/promises'
import { findIp, formatIp, isIp } from '@postern/net/ip'
import { messageOf } from '../errors.ts'
import { networkReason } from './http.ts'

const PATIENCE = 10_000
const MOST = 16

/** The address of the server's end, chosen among those that its name has. */
export interface Endpoint {
  /** Resolves the name again, and takes the next address when `moveOn` is set. @returns a problem in words. */
  refresh(host: string, moveOn: boolean): Promise<string | undefined>
  /** The chosen address, or undefined while the name has never resolved. */
  current(): string | undefined
  all(): readonly string[]
}

export function createEndpoint(listAddresses: (host: string) => Promise<string[]>): Endpoint {
  let name = ''
  let known: string[] = []
  let chosen: string | undefined

  return {
    async refresh(host, moveOn) {
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
        // The last address is better than none, but only for the same name.
        if (isNew) chosen = undefined
        if (isNew) known = []
        return networkReason(host, error) || messageOf(error)
      }
    },
    current: () => chosen,
    all: () => known,
  }
}

/** A host's addresses, in the order to try them. @throws the resolver's error, or a timeout */
export async function listAddresses(host: string): Promise<string[]> {
  if (isIp(host)) return [host]
  const found = await withTimeout(lookup(host, { all: true, verbatim: true }), PATIENCE)
  return found.slice(0, MOST).flatMap(({ address }) => {
    const ip = findIp(address)
    return ip ? [formatIp(ip)] : []
  })
}

class LookupTimeoutError extends Error {
  readonly code = 'EAI_AGAIN'
}

/** The system's resolver cannot be cancelled; a late answer is ignored. */
async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new LookupTimeoutError('the name server does not answer')), timeoutMs)
  })
  try {
    return await Promise.race([work, deadline])
  } finally {
    clearTimeout(timer)
  }
}
