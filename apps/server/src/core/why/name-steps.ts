import type { WhyStep } from '@postern/contract/why/why'
import { findIp } from '@postern/net/ip'
import type { Context } from '../../context.ts'
import { hereOf } from '../domains/checks.ts'
import { judgeLookup, lookUp } from '../domains/domain-check.ts'
import { explainLookup, explainNoAddress } from '../domains/domain-words.ts'
import { LookupError } from '../domains/resolver.ts'
import type { Place } from './place.ts'
import { toSentences } from './sentences.ts'

export type Seen = Omit<WhyStep, 'at'>
type Parts = Pick<Context, 'config' | 'network' | 'resolver' | 'visit' | 'proofs'>

/**
 * What the world knows of the host. Only names of this installation are looked up, and only what DNS says of them is
 * asked: nobody else's name servers and addresses.
 */
export async function* lookAtName(parts: Parts, place: Place): AsyncGenerator<Seen> {
  const { host, domain } = place
  const here = hereOf(parts)
  if (findIp(host)) {
    yield { step: 'dns', state: 'none', seen: 'An IP address needs no name.', next: null }
    yield judgeAddress(host, [here.publicHost, ...here.ownAddresses])
    return
  }
  if (!domain && host !== here.publicHost) {
    const seen = `${host} is no domain of this installation, so it was not looked up.`
    yield { step: 'dns', state: 'note', seen, next: null }
    yield { step: 'address', state: 'none', seen: 'Where the name leads was not asked.', next: null }
    return
  }
  const found = await lookUp(parts.resolver, host)
  const isKnown = !(found instanceof LookupError) && found.length > 0
  yield isKnown ? named(host, found) : unnamed(place, here.publicHost, found)
  // A domain that was saved without DNS may be known by other means.
  if (!isKnown) {
    yield { step: 'address', state: 'none', seen: 'There is no address to look at.', next: null }
    return
  }
  const problem = await judgeLookup(parts, host, here, Promise.resolve(found))
  const seen = `${found.join(' and ')} ${found.length > 1 ? 'lead' : 'leads'} to this server.`
  yield problem === undefined ? { step: 'address', state: 'ok', seen, next: null } : misled(problem, place)
}

function named(host: string, addresses: readonly string[]): Seen {
  const records = addresses.map((address) => `${findIp(address)?.family === 6 ? 'AAAA' : 'A'} ${address}`)
  return { step: 'dns', state: 'ok', seen: `${host} has ${records.join(', ')}.`, next: null }
}

function unnamed({ host, domain }: Place, here: string, found: string[] | LookupError): Seen {
  const pointing = { name: host, here }
  const words = found instanceof LookupError ? explainLookup(pointing, found.why) : explainNoAddress(pointing)
  return { step: 'dns', state: domain?.skipsDns ? 'note' : 'stop', ...toSentences(words) }
}

function misled(problem: string, { domain }: Place): Seen {
  return { step: 'address', state: domain?.skipsDns ? 'note' : 'stop', ...toSentences(problem) }
}

function judgeAddress(host: string, own: readonly string[]): Seen {
  if (own.includes(host)) return { step: 'address', state: 'ok', seen: `${host} is this server.`, next: null }
  const seen = `${host} is not among the addresses that this server knows of itself: a router may lead it here.`
  return { step: 'address', state: 'note', seen, next: null }
}
