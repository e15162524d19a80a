import { PROOF_PATH } from '@postern/contract/reserved-paths'
import { findCidr } from '@postern/net/cidr'
import { findIp, formatIp } from '@postern/net/ip'
import { isPrivate } from '@postern/net/special'
import {
  explainLookup,
  explainMisdirections,
  explainNoAddress,
  type Misdirection,
  type Pointing,
} from './domain-words.ts'
import type { Proofs } from './proofs.ts'
import { LookupError, type Resolver } from './resolver.ts'
import type { Visit } from './visit.ts'

/** What the check of a name needs. */
export interface Checker {
  resolver: Resolver
  visit: Visit
  proofs: Proofs
}

export interface Here {
  /** The address or name that visitors use. */
  publicHost: string
  /** The machine's own addresses, to which a name may also point. */
  ownAddresses: readonly string[]
}

/** How many addresses of a name are asked. */
const MAX_VISITS = 8

/**
 * Checks whether a name leads to this server: every address in DNS is the server's, or answers for it, like a router
 * or a CDN in front of it. Only public addresses are asked, each exactly as DNS gave it.
 * @returns undefined when it does, otherwise a message with the address, the finding, and what to do
 */
export async function findPointingProblem(
  checker: Checker,
  name: string,
  here: Here,
): Promise<string | undefined> {
  return await judgeLookup(checker, name, here, lookUp(checker.resolver, name))
}

/** The same for a name that is being looked up already. */
export async function judgeLookup(
  checker: Checker,
  name: string,
  { publicHost, ownAddresses }: Here,
  lookup: Promise<string[] | LookupError>,
): Promise<string | undefined> {
  const [found, target] = await Promise.all([
    lookup,
    // The server's own name proves nothing about itself.
    name === publicHost
      ? ownAddresses
      : findIp(publicHost)
        ? [publicHost]
        : lookUp(checker.resolver, publicHost),
  ])
  const hosts = target instanceof LookupError ? [] : target.map(spell)
  const pointing = { name, here: describeHere(publicHost, hosts) }
  if (found instanceof LookupError) return explainLookup(pointing, found.why)
  if (found.length === 0) return explainNoAddress(pointing)
  const own = new Set([...hosts, ...ownAddresses.map(spell)])
  const elsewhere = found.map(spell).filter((address) => !own.has(address))
  return await judge(checker, pointing, elsewhere, elsewhere.length < found.length)
}

async function judge(
  checker: Checker,
  pointing: Pointing,
  elsewhere: readonly string[],
  isPartlyOwn: boolean,
): Promise<string | undefined> {
  const asked = elsewhere.slice(0, MAX_VISITS)
  const answers = await Promise.all(asked.map((address) => askForProof(checker, pointing.name, address)))
  const isPartlyHere = isPartlyOwn || answers.includes('here')
  const misdirected = new Map<string, Misdirection>()
  for (const [index, answer] of answers.entries()) {
    // An address that this machine cannot reach, like IPv6 where it has none, may be ignored if the others lead here.
    const isUnknown = answer === 'unreachable' && isPartlyHere
    if (answer !== 'here' && !isUnknown) misdirected.set(asked[index] ?? '', answer)
  }
  return misdirected.size > 0 ? explainMisdirections(pointing, misdirected, isPartlyHere) : undefined
}

async function askForProof(
  { visit, proofs }: Checker,
  name: string,
  address: string,
): Promise<'here' | Misdirection> {
  if (!isPublic(address)) return 'private'
  const proof = proofs.begin()
  const came = await visit(address, name, `${PROOF_PATH}/${proof.nonce}`)
  if (came.kind !== 'answered') return came.kind
  if (came.status >= 300 && came.status < 400) return 'redirected'
  return came.status === 200 && came.text === proof.secret ? 'here' : 'other'
}

/** What the name servers say: addresses, or why there is no answer. */
export async function lookUp(resolver: Resolver, name: string): Promise<string[] | LookupError> {
  try {
    return await resolver.resolve(name)
  } catch (error) {
    if (!(error instanceof LookupError)) throw error
    return error
  }
}

/** A name cannot usefully point to a private address, even if the server knows no other of its own. */
function describeHere(publicHost: string, addresses: readonly string[]): string {
  const reachable = addresses.filter(isPublic)
  if (reachable.length > 0) return reachable.join(' or ')
  return findIp(publicHost) || addresses.length > 0 ? "this server's public address" : publicHost
}

function isPublic(address: string): boolean {
  const network = findCidr(address)
  return network !== undefined && !isPrivate(network)
}

function spell(address: string): string {
  const ip = findIp(address)
  return ip ? formatIp(ip) : address
}
