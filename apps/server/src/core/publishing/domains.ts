import type { Kysely } from 'kysely'
import type { IssuedCertificate } from '../../certificates/issue.ts'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { findDomainProblem } from '../domains/checks.ts'
import { findUsedName } from '../domains/used-names.ts'
import { isDomainKept } from './freed.ts'
import { isGiven, readGiven } from './given.ts'
import { domainFault, textOfDomainFault } from './rule.ts'
import type { Wanted } from './wanted.ts'

/**
 * For a domain that does not exist yet: its certificate, and whether it was only given to the node, without a look at
 * its DNS; or why it cannot be created.
 */
export type NewDomain = { issued: IssuedCertificate; isGiven: boolean } | { problem: string }

/** How many look-ups run at a time for one set. */
const LOOKUPS = 10
/** After this many ms, the rest of a set waits for the next one. */
const LOOKUP_MS = 15_000
/** For one node in ten minutes: each costs a certificate, and perhaps a request to its address. */
const MAX_NEW = 200

/** Prepares the domains that are new with a set. Outside any transaction, because name servers may be slow. */
export async function prepareDomains(
  context: Context,
  nodeId: number,
  wanted: readonly Wanted[],
): Promise<ReadonlyMap<string, NewDomain>> {
  const queue = await listNew(context.db, wanted)
  const given = await readGiven(context.db, nodeId)
  const prepared = new Map<string, NewDomain>()
  const until = context.clock() + LOOKUP_MS
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const name = { text: next, isGiven: isGiven(next, given) }
      const problem = await findProblem(context, nodeId, name, until)
      if (problem !== undefined) prepared.set(next, { problem })
      else prepared.set(next, { issued: await context.authority.issue([next]), isGiven: name.isGiven })
    }
  }
  await Promise.all(Array.from({ length: LOOKUPS }, work))
  return prepared
}

/** The unknown names of a set. */
async function listNew(db: Kysely<Database>, wanted: readonly Wanted[]): Promise<string[]> {
  const named = new Set(wanted.flatMap(({ service }) => service?.form.domain ?? []))
  const known = await db
    .selectFrom('domains')
    .select('domain')
    .where('domain', 'in', [...named])
    .execute()
  for (const { domain } of known) named.delete(domain)
  return [...named]
}

async function findProblem(
  context: Context,
  nodeId: number,
  name: { text: string; isGiven: boolean },
  until: number,
): Promise<string | undefined> {
  const { publishAttempts: attempts } = context
  const key = `domains ${nodeId}`
  if (!name.isGiven && context.clock() > until) return 'has not been looked up yet: the next set does it'
  if (attempts.count(key) >= MAX_NEW)
    return 'is one new domain too many: wait ten minutes, or add it in the console'
  attempts.add(key, 1)
  return await findDomainProblem(context, name.text, name.isGiven)
}

/** The node whose set is checked. */
interface Asking {
  context: Context
  tx: Kysely<Database>
  node: { id: number }
  /** The domains that people allow its agent to use. */
  given: readonly string[]
  /** The domains that did not exist when the set came. */
  prepared: ReadonlyMap<string, NewDomain>
}

const KEPT =
  'belonged to another node within the last day: give it to this one under “Domains Its Agent May Use” in its form, or choose another domain'

/** Why services of this node's sources may not have that domain, in words. */
export async function findDomainFault(
  { context, tx, node: { id: nodeId }, given, prepared }: Asking,
  domain: string,
): Promise<string | undefined> {
  if (context.config.ownHosts.includes(domain)) return textOfDomainFault('console')
  const row = await tx
    .selectFrom('domains')
    .innerJoin('nodes', (join) => join.on('nodes.id', '=', nodeId))
    .select((eb) => [
      domainFault.as('fault'),
      eb
        .exists(eb.selectFrom('services').select('id').where('domain_id', '=', eb.ref('domains.id')))
        .as('isUsed'),
    ])
    .where('domain', '=', domain)
    .executeTakeFirst()
  const isOpen = !row?.isUsed && !isGiven(domain, given)
  const isKept = async () => isOpen && (await isDomainKept({ db: tx, nodeId, now: context.clock() }, domain))
  if (!row) {
    if ((await findUsedName(tx, { domain, isConsole: false })).length > 0)
      return textOfDomainFault('wasConsole')
    if (await isKept()) return KEPT
    const fresh = prepared.get(domain)
    if (!fresh) return 'was deleted in the meantime: the next set creates it again'
    if ('problem' in fresh) return fresh.problem
    // A person has taken it away during the look-ups.
    return fresh.isGiven && isOpen ? 'was given to this node until now: the next set looks it up' : undefined
  }
  if (row.fault !== null) return textOfDomainFault(row.fault)
  return (await isKept()) ? KEPT : undefined
}
