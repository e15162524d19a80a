import { type Kysely, sql } from 'kysely'
import type { Database } from '../../db/schema.ts'

/** Why an agent's services may not use a domain; each text follows the domain's name. */
const DOMAIN_FAULTS = {
  console: 'is the address of the console: choose another domain',
  wasConsole: 'was the address of the console: choose another domain',
  signIn: 'has sign-in, which only people set: add the service in the console, or choose another domain',
  others: 'belongs to services of another node: choose another domain',
  notGiven:
    "is not available to this node's agent: give it under “Domains Its Agent May Use” in its form, or choose another domain",
} as const
export type DomainFault = keyof typeof DOMAIN_FAULTS

/** The certificate would be the console's, so the service would get what browsers store for the console. */
export const NO_TLS = "is needed for TLS: agents can't use the console's certificate"

export function textOfDomainFault(fault: DomainFault): string {
  return DOMAIN_FAULTS[fault]
}

/** Why a service that an agent publishes is withheld. */
export type ServiceFault = DomainFault | 'right' | 'tls'

/** The same as `isGiven`. */
const isGiven = sql<boolean>`EXISTS (
  SELECT 1 FROM json_each(nodes.agent_domains) AS given
  WHERE given.value = domains.domain OR (
    substr(given.value, 1, 2) = '*.' AND substr(domains.domain, 1 - length(given.value)) = substr(given.value, 2)
  )
)`

/** Made for a source after a check of its DNS. */
const isBrought = sql<boolean>`(domains.skip_validation = 0 AND EXISTS (
  SELECT 1 FROM main.published_domains AS brought WHERE brought.domain_id = domains.id
))`

/** A person has a service of the same node there. */
const isShared = sql<boolean>`EXISTS (
  SELECT 1 FROM main.services AS own WHERE own.domain_id = domains.id AND own.node_id = nodes.id
    AND NOT EXISTS (SELECT 1 FROM main.publications AS other WHERE other.service_id = own.id)
)`

/** Browsers and agents may still send there what was for the console, which a person alone can judge. */
const wasConsoles = sql<boolean>`EXISTS (
  SELECT 1 FROM main.used_names AS used WHERE used.domain = domains.domain AND used.is_console = 1
)`

/**
 * Why services of a node's sources may not use a domain now; null: they may. For queries with a row of `nodes` and
 * one of `domains`. It looks at everything (`main`), whoever asks.
 */
export const domainFault = sql<DomainFault | null>`CASE
  WHEN EXISTS (
    SELECT 1 FROM main.services AS consoles WHERE consoles.system = 1 AND consoles.domain_id = domains.id
  ) THEN 'console'
  WHEN ${wasConsoles} THEN 'wasConsole'
  WHEN domains.authentication = 1 THEN 'signIn'
  WHEN EXISTS (
    SELECT 1 FROM main.services AS others WHERE others.domain_id = domains.id AND others.node_id != nodes.id
  ) THEN 'others'
  WHEN NOT ${isGiven} AND NOT ${isBrought} AND NOT ${isShared} THEN 'notGiven'
END`

/** The same for a row of `services` with its `publications`; null for a service of people. */
export const serviceFault = sql<ServiceFault | null>`CASE
  WHEN publications.service_id IS NULL THEN NULL
  WHEN nodes.agent_may_publish = 0 THEN 'right'
  WHEN domains.id IS NULL THEN iif(services.ssl = 1, 'tls', NULL)
  ELSE ${domainFault}
END`

interface Judged {
  published_fault: ServiceFault | null
  source: string | null
  domain: string | null
}

/** Why it is left out of the desired state; null: it is not. The public hosts are in no table. */
export function findServiceFault(row: Judged, ownHosts: readonly string[]): ServiceFault | null {
  const isOwn = row.domain !== null && ownHosts.includes(row.domain)
  return row.source !== null && isOwn ? 'console' : row.published_fault
}

/** The text in the service's row. */
export function withheldText(fault: ServiceFault, domain: string | null, nodeName: string): string {
  if (fault === 'right') return `Withheld: the agent of ${nodeName} may not publish services`
  if (fault === 'tls') return "Withheld: TLS needs a domain: agents can't use the console's certificate"
  return `Withheld: ${domain} ${DOMAIN_FAULTS[fault]}`
}

/** The ids of the services that are withheld, except those at the public host. */
export function selectWithheld(db: Kysely<Database>) {
  return db
    .selectFrom('publications')
    .innerJoin('services', 'services.id', 'publications.service_id')
    .innerJoin('nodes', 'nodes.id', 'services.node_id')
    .leftJoin('domains', 'domains.id', 'services.domain_id')
    .select('services.id')
    .where(serviceFault, 'is not', null)
}
