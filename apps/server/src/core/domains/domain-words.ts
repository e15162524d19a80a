import { findIp } from '@postern/net/ip'
import type { LookupError } from './resolver.ts'

/** Why an address of a name is not this server. `private`: it was not asked, since the internet cannot reach it. */
export type Misdirection =
  | 'private'
  | 'other'
  | 'redirected'
  | 'refused'
  | 'silent'
  | 'broken'
  | 'unreachable'

/** For each kind: what is wrong with the addresses, and what helps besides pointing the name elsewhere. */
const MISDIRECTIONS: Record<Misdirection, { is: string; helps?: string }> = {
  private: { is: ', a private address that visitors cannot reach' },
  other: { is: ', where another server answers' },
  redirected: {
    is: ', which redirects instead of answering for this server',
    helps: 'If that is a CDN, let it pass /.well-known/ on over plain HTTP.',
  },
  refused: {
    is: ', which refuses connections on port 80',
    helps: 'If that is your router or a CDN, let it pass port 80 on to this server.',
  },
  silent: {
    is: ', which does not answer on port 80',
    helps: 'If that is your router or a firewall, let it pass port 80 on to this server.',
  },
  broken: { is: ', which does not answer in HTTP on port 80' },
  unreachable: { is: ', which this server cannot reach' },
}

/** A name that does not lead here, and the words for this server's address. */
export interface Pointing {
  name: string
  here: string
}

export function explainLookup({ name, here }: Pointing, why: LookupError['why']): string {
  if (why === 'absent') return `${name} has no DNS record. Point it to ${here}.`
  const answer = why === 'silent' ? 'did not answer' : `answered with ${why}`
  const hint = why === 'silent' ? 'Try again in a moment.' : 'Look at its zone, or try again in a moment.'
  return `${name} could not be looked up: the name servers ${answer}. ${hint}`
}

export function explainNoAddress({ name, here }: Pointing): string {
  return `${name} has no address in DNS. Add an A or AAAA record that points to ${here}.`
}

/**
 * A message that names every address that is not this server.
 * @param isPartlyHere other addresses of the name are
 */
export function explainMisdirections(
  { name, here }: Pointing,
  misdirected: ReadonlyMap<string, Misdirection>,
  isPartlyHere: boolean,
): string {
  const kinds = [...new Set(misdirected.values())]
  const groups = kinds.map((kind) => {
    const addresses = [...misdirected].flatMap(([address, is]) => (is === kind ? [withRecord(address)] : []))
    return `${addresses.join(' and ')}${MISDIRECTIONS[kind].is}`
  })
  const points = `${name} ${isPartlyHere ? 'also ' : ''}points to ${groups.join('; and to ')}.`
  const record = misdirected.size > 1 ? 'these records' : 'this record'
  const advice = isPartlyHere ? `Remove ${record}.` : `Point it to ${here}.`
  const helps = kinds.map((kind) => MISDIRECTIONS[kind].helps).find((text) => text !== undefined)
  return [points, advice, helps].filter(Boolean).join(' ')
}

function withRecord(address: string): string {
  return `${address} (${findIp(address)?.family === 6 ? 'AAAA' : 'A'})`
}
