import type { PortProto } from '@postern/contract/services/service-fields'
import type { Generated } from 'kysely'
import type { Fixed, Flag } from './columns.ts'

/** What the agents of nodes publish, by source and key. */
export interface PublicationsTable {
  node_id: Fixed<number>
  source: Fixed<string>
  key: Fixed<string>
  /** Null while the source does not publish it: the row then only remembers that a person disabled it. */
  service_id: number | null
  /** As the source wants it. */
  enabled: Flag
  /** Whether a person disabled it. */
  held: Flag
  /** The token with which its source last published; null: unknown. */
  token_id: Generated<number | null>
}

/** Domains that were created for a source, and go with its last service there. */
export interface PublishedDomainsTable {
  domain_id: Fixed<number>
}

/** Addresses where a person disabled an agent's service, in the form of `addressOf` in `core/publishing/held.ts`. */
export interface HeldAddressesTable {
  node_id: Fixed<number>
  address: string
}

/** The node that last had a public port. Written by triggers. */
export interface FreedPortsTable {
  proto: Fixed<PortProto>
  port: Fixed<number>
  node_id: Fixed<number>
  /** ms since the epoch. */
  at: Fixed<number>
}

/** The node that last had services at a domain. Written by triggers. */
export interface FreedDomainsTable {
  domain: Fixed<string>
  node_id: Fixed<number>
  /** ms since the epoch. */
  at: Fixed<number>
}
