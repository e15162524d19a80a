import type { CertificateKind, OrderStep } from '@postern/contract/certificates'
import type { SignInOutcome } from '@postern/contract/domains'
import type { ServiceType } from '@postern/contract/services/services'
import type { ColumnType, Generated, InsertType, Selectable, SelectType, Updateable } from 'kysely'
import type {
  AlertChannelsTable,
  AlertDeliveriesTable,
  AlertRulesTable,
  AlertsTable,
  MutesTable,
} from './alert-tables.ts'
import type { ApiTokenDomainsTable, ApiTokenNodesTable, ApiTokensTable } from './api-token-tables.ts'
import type { Dated, Fixed, Flag, HttpColumns, Json, Sealed, TcpColumns, Time } from './columns.ts'
import type { EdgesTable, JoinTokensTable } from './edge-tables.ts'
import type { AuthenticatorsTable, PasskeysTable, RecoveryCodesTable } from './factor-tables.ts'
import type {
  ChangeChainTable,
  ChangeRecordsTable,
  ChangesTable,
  PendingChangesTable,
} from './history-tables.ts'
import type {
  InvitesTable,
  SessionsTable,
  UsedTicketsTable,
  UserDomainsTable,
  UserNodesTable,
  UsersTable,
} from './people-tables.ts'
import type { ConsoleProvidersTable, PasswordRuleTable, UserIdentitiesTable } from './provider-tables.ts'
import type {
  FreedDomainsTable,
  FreedPortsTable,
  HeldAddressesTable,
  PublicationsTable,
  PublishedDomainsTable,
} from './publication-tables.ts'

/** A name at which services, or the console, have been. */
interface UsedNamesTable {
  id: Generated<number>
  domain: Fixed<string>
  is_console: Fixed<0 | 1>
}

/** The sources from which each account has signed in, named as in `core/accounts/sources.ts`. */
interface SignInNetworksTable {
  user_id: Fixed<number>
  network: Fixed<string>
  /** ms since the epoch. */
  last_at: number
}

/** Values that the installation generated at its first start; secret ones are sealed. */
interface SettingsTable {
  key: string
  value: string
}

interface NodesTable extends Dated {
  id: Generated<number>
  name: string
  /** Lower case in Unicode, for searching and sorting, because SQLite folds only ASCII. */
  name_folded: string
  /** IPv4; `localhost` for the local node. */
  address: string
  dns: string | null
  keepalive: number
  is_gateway: Flag
  /** GatewayNetwork[]; empty for a plain node. */
  gateway_networks: Json
  allow_internet: Flag
  advanced: Flag
  agent_may_publish: Generated<Flag>
  /** string[], each a name or `*.` and a parent domain. */
  agent_domains: Generated<Json>
  /** How much its agent may publish: services, their domains, public ports, and entries of IP lists. */
  agent_max_services: Generated<number>
  agent_max_domains: Generated<number>
  agent_max_ports: Generated<number>
  agent_max_entries: Generated<number>
  is_local: Fixed<Flag>
  enabled: Flag
  public_key: string | null
  /** Only for a node that uses the downloaded file. */
  private_key: Sealed | null
  /** The token with which the agent registered the key; null for a key that the server made, or unknown. */
  key_token_id: Generated<number | null>
  /** Null for the local node only. */
  preshared_key: Sealed | null
  revision: number
}

/** What a node's row has beside what reaches edges. */
interface NodeNotes {
  /** JSON: the ids of the edges in the file that was downloaded last; null: the one beside the server. */
  file_edges: Generated<string | null>
}

interface NodeTokensTable extends Dated {
  id: Generated<number>
  node_id: Fixed<number>
  name: string
  /** SHA-256 of the token in hex. */
  token_hash: Fixed<string>
  expire_at: Time | null
  revoked: Flag
  /** The token that ends when this one is used for the first time. */
  replaces_id: Generated<number | null>
}

interface DomainsTable extends Dated {
  id: Generated<number>
  domain: string
  ssl: CertificateKind | null
  skip_validation: Flag
  authentication: Generated<Flag>
  /** The ids of the edges that serve it; null: all. */
  edges: Json | null
  revision: number
}

/** Id 0 is the installation's own certificate, without a domain. */
interface CertificatesTable extends Dated {
  id: Generated<number>
  domain_id: Fixed<number | null>
  status: 'valid' | 'pending' | 'failed'
  kind: ColumnType<CertificateKind, CertificateKind | undefined, CertificateKind>
  issuer: string | null
  /** PEM, the leaf first; null until there is one. */
  chain: string | null
  private_key: Sealed | null
  not_before: Time | null
  not_after: Time | null
  error: string | null
  revision: number
}

/** One for each domain that wants a certificate of a public authority, while it does. */
interface OrdersTable extends Dated {
  id: Generated<number>
  domain_id: Fixed<number>
  /** Null between two orders: until `due_at`. */
  step: OrderStep | null
  /** ms since the epoch: when the next order is placed, whether for the first one, after a failure or for a renewal. */
  due_at: number
  /** The authority's address, and that of the order there; null before it is placed. */
  directory: string | null
  url: string | null
  /** The key of the certificate on order. */
  private_key: Sealed | null
  /** In a row. */
  failures: number
  /** CertificateProblem of the last order, when it failed. */
  problem: Json | null
  /** ms since the epoch: when to ask the authority next for the renewal time of the certificate in use. */
  info_at: number | null
}

/** The answer that an authority will look for at a domain. */
interface ChallengesTable extends Dated {
  id: Generated<number>
  domain_id: Fixed<number>
  token: Fixed<string>
  /** The thumbprint of our account's key at the authority. */
  thumbprint: Fixed<string>
  revision: number
}

/** Services of every type share one id sequence, so that an id is unique everywhere. */
interface ServicesTable extends HttpColumns, TcpColumns, Dated {
  id: Generated<number>
  type: Fixed<ServiceType>
  node_id: number
  name: string
  /** As for a node. */
  name_folded: string
  domain_id: number | null
  backend_host: string | null
  backend_port: number
  /** string[] */
  allowed_ips: Json
  /** string[] */
  blocked_ips: Json
  /** When the server deletes it. */
  ends_at: Time | null
  enabled: Flag
  system: Fixed<Flag>
  revision: number
}

/** The visitors who may use services of a domain that require sign-in. It changes with its domain. */
interface DomainMembersTable {
  /** Never used again. */
  id: Generated<number>
  domain_id: Fixed<number>
  /** In lower case. */
  email: Fixed<string>
}

/** Who came to services that require sign-in. */
interface SignInsTable {
  id: Generated<number>
  domain_id: Fixed<number>
  email: Fixed<string>
  address: Fixed<string>
  outcome: Fixed<SignInOutcome>
  at: Fixed<Time>
}

interface SignedOutTable {
  domain_id: Fixed<number>
  email: Fixed<string>
  /** In s, as in sessions. */
  auth_time: Fixed<number>
}

/** One row: the newest revision. Writers wait for each other here, so that revisions are in the order of commits. */
interface RevisionsTable {
  latest: number
  /** The newest one in which a row was deleted that reaches the edges. */
  removed: Generated<number>
}

/** Rows that reach an edge. Each has the revision of its last change. */
export interface StatedTables {
  nodes: NodesTable
  domains: DomainsTable
  certificates: CertificatesTable
  challenges: ChallengesTable
  services: ServicesTable
}

/** Only `updateStated` updates such rows, and only `removeStated` deletes them: each change has its revision. */
type Stated<T> = { [K in keyof T]: ColumnType<SelectType<T[K]>, InsertType<T[K]>, never> }
export type StatedUpdate<T extends keyof StatedTables> = Omit<Updateable<StatedTables[T]>, 'id' | 'revision'>

export interface Database {
  users: UsersTable
  user_nodes: UserNodesTable
  user_domains: UserDomainsTable
  authenticators: AuthenticatorsTable
  passkeys: PasskeysTable
  recovery_codes: RecoveryCodesTable
  sessions: SessionsTable
  used_tickets: UsedTicketsTable
  invites: InvitesTable
  console_providers: ConsoleProvidersTable
  user_identities: UserIdentitiesTable
  password_rule: PasswordRuleTable
  api_tokens: ApiTokensTable
  api_token_nodes: ApiTokenNodesTable
  api_token_domains: ApiTokenDomainsTable
  sign_in_networks: SignInNetworksTable
  settings: SettingsTable
  nodes: Stated<NodesTable> & NodeNotes
  node_tokens: NodeTokensTable
  domains: Stated<DomainsTable>
  certificates: Stated<CertificatesTable>
  challenges: Stated<ChallengesTable>
  orders: OrdersTable
  services: Stated<ServicesTable>
  publications: PublicationsTable
  published_domains: PublishedDomainsTable
  held_addresses: HeldAddressesTable
  freed_ports: FreedPortsTable
  freed_domains: FreedDomainsTable
  used_names: UsedNamesTable
  domain_members: DomainMembersTable
  sign_ins: SignInsTable
  signed_out: SignedOutTable
  revisions: RevisionsTable
  changes: ChangesTable
  change_records: ChangeRecordsTable
  change_chain: ChangeChainTable
  pending_changes: PendingChangesTable
  edges: EdgesTable
  join_tokens: JoinTokensTable
  alert_rules: AlertRulesTable
  alert_channels: AlertChannelsTable
  alerts: AlertsTable
  alert_deliveries: AlertDeliveriesTable
  mutes: MutesTable
}

export type NodeRow = Selectable<NodesTable & NodeNotes>
export type DomainRow = Selectable<DomainsTable>
export type CertificateRow = Selectable<CertificatesTable>
export type OrderRow = Selectable<OrdersTable>
export type ServiceRow = Selectable<ServicesTable>
export type EdgeRow = Selectable<EdgesTable>
