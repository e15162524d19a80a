import { lookup } from 'node:dns/promises'
import { findIp, formatIp, isIp } from '@postern/net/ip'
import { messageOf } from '../errors.ts'
import { networkReason } from './http.ts'

const PATIENCE = 10_000
const MOST = 16

/** The address of the other end, chosen among those its name has. */
export interface Endpoint {
  /** Resolves the name again and, when asked to move on, takes the next address. @returns a problem in words. */
  refresh(host: string, moveOn: boolean): Promise<string | undefined>
  /** The chosen address, or undefined when the name was never resolved. */
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
        if (found.length === 0) return `the name ${host} has no address`
        const before = chosen === undefined || isNew ? -1 : found.indexOf(chosen)
        chosen = found[before < 0 ? 0 : (before + (moveOn ? 1 : 0)) % found.length]
        known = found
        name = host
        return undefined
      } catch (error) {
        // The address that was right a minute ago is better than none, but only for the same name.
        if (isNew) chosen = undefined
        if (isNew) known = []
        return networkReason(host, error) || messageOf(error)
      }
    },
    current: () => chosen,
    all: () => known,
  }
}

/** The addresses of a host, in the order to try them. @throws the resolver's error, or one when it is silent. */
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

/** The system's resolver cannot be called off; its late answer is dropped. */
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
