import type { PortProto } from '@postern/contract/service-fields'
import type { Generated } from 'kysely'
import type { Fixed, Flag } from './columns.ts'

/** What the agents of nodes publish, by source and key. */
export interface PublicationsTable {
  node_id: Fixed<number>
  source: Fixed<string>
  key: Fixed<string>
  /** Null when the source does not name it at present: a memory of what a person disabled. */
  service_id: number | null
  /** As the source wants it. */
  enabled: Flag
  /** Whether a person disabled it. */
  held: Flag
  /** By which its source was last published; null where it is not known. */
  token_id: Generated<number | null>
}

/** Domains that were made for a source, and go with its last service there. */
export interface PublishedDomainsTable {
  domain_id: Fixed<number>
}

/** Where a person disabled what an agent publishes: as `addressOf` in `core/publishing/held.ts` says it. */
export interface HeldAddressesTable {
  node_id: Fixed<number>
  address: string
}

/** Which node had a public port last. Written by triggers. */
export interface FreedPortsTable {
  proto: Fixed<PortProto>
  port: Fixed<number>
  node_id: Fixed<number>
  /** ms since the epoch. */
  at: Fixed<number>
}

/** Which node had services at a domain last. Written by triggers. */
export interface FreedDomainsTable {
  domain: Fixed<string>
  node_id: Fixed<number>
  /** ms since the epoch. */
  at: Fixed<number>
}
