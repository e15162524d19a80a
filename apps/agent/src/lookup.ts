import { lookup } from 'node:dns/promises'
import { findIp, formatIp, isIp } from '@postern/net/ip'

const PATIENCE = 10_000
const MOST = 16

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
