import type { Role } from '@postern/contract/auth'
import type { CertificateKind, OrderStep } from '@postern/contract/certificates'
import type { SignInOutcome } from '@postern/contract/domains'
import type { ServiceType } from '@postern/contract/services'
import type { ColumnType, Generated, InsertType, Selectable, SelectType, Updateable } from 'kysely'
import type { Fixed, Flag, HttpColumns, Json, Sealed, TcpColumns, Time } from './columns.ts'
import type {
  FreedDomainsTable,
  FreedPortsTable,
  HeldAddressesTable,
  PublicationsTable,
  PublishedDomainsTable,
} from './publication-tables.ts'

interface UsersTable {
  id: Generated<number>
  username: string
  password_hash: string
  role: Role
  created_at: Fixed<Time>
  updated_at: Time
}

interface SessionsTable {
  id: Generated<number>
  /** SHA-256 of the token in hex. */
  token_hash: Fixed<string>
  /** SHA-256 of the key that it is bound to, in hex; null for a client that has none. */
  key_hash: Fixed<string | null>
  user_id: Fixed<number>
  /** ms since the epoch. */
  expires_at: number
  created_at: Fixed<Time>
}

/** From where each account has signed in: `core/accounts/sources.ts` says how a source is named. */
interface SignInNetworksTable {
  user_id: Fixed<number>
  network: Fixed<string>
  /** ms since the epoch. */
  last_at: number
}

/** What the installation made for itself at its first start; secret values are sealed. */
interface SettingsTable {
  key: string
  value: string
}

interface NodesTable {
  id: Generated<number>
  name: string
  /** Lower case in Unicode, for searching and sorting; SQLite folds ASCII only. */
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
  /** string[], each a name or `*.` and what it is below. */
  agent_domains: Generated<Json>
  /** What its agent may publish at most: services, their domains, public ports, and entries of IP lists. */
  agent_max_services: Generated<number>
  agent_max_domains: Generated<number>
  agent_max_ports: Generated<number>
  agent_max_entries: Generated<number>
  is_local: Fixed<Flag>
  enabled: Flag
  public_key: string | null
  /** Only for a node that uses the downloaded file. */
  private_key: Sealed | null
  /** By which the agent registered the key; null for a key that the server made, and where it is not known. */
  key_token_id: Generated<number | null>
  /** Null for the local node only. */
  preshared_key: Sealed | null
  created_at: Fixed<Time>
  updated_at: Time
  revision: number
}

interface NodeTokensTable {
  id: Generated<number>
  node_id: Fixed<number>
  name: string
  /** SHA-256 of the token in hex. */
  token_hash: Fixed<string>
  expire_at: Time | null
  revoked: Flag
  created_at: Fixed<Time>
  updated_at: Time
}

interface DomainsTable {
  id: Generated<number>
  domain: string
  ssl: CertificateKind | null
  skip_validation: Flag
  authentication: Generated<Flag>
  created_at: Fixed<Time>
  updated_at: Time
  revision: number
}

/** Id 0 is the installation's own certificate, without a domain. */
interface CertificatesTable {
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
  created_at: Fixed<Time>
  updated_at: Time
  revision: number
}

/** One for each domain that wants a certificate of a public authority, as long as it does. */
interface OrdersTable {
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
  /** ms since the epoch: when the authority is asked next when it wants the certificate in use to be renewed. */
  info_at: number | null
  created_at: Fixed<Time>
  updated_at: Time
}

/** What an authority will look for at a domain, as long as it may. */
interface ChallengesTable {
  id: Generated<number>
  domain_id: Fixed<number>
  token: Fixed<string>
  /** The thumbprint of our account's key at the authority. */
  thumbprint: Fixed<string>
  created_at: Fixed<Time>
  updated_at: Time
  revision: number
}

/** Services of every type: one id sequence, so that one id means one thing everywhere. */
interface ServicesTable extends HttpColumns, TcpColumns {
  id: Generated<number>
  type: Fixed<ServiceType>
  node_id: Fixed<number>
  name: string
  /** As that of a node. */
  name_folded: string
  domain_id: number | null
  backend_host: string | null
  backend_port: number
  /** string[] */
  allowed_ips: Json
  /** string[] */
  blocked_ips: Json
  enabled: Flag
  system: Fixed<Flag>
  created_at: Fixed<Time>
  updated_at: Time
  revision: number
}

/** Who may come in to services of a domain that require sign-in. It changes with its domain. */
interface DomainMembersTable {
  /** Never given twice. */
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
  /** In s, as sessions say it. */
  auth_time: Fixed<number>
}

/** One row: the newest revision. Writers wait here for each other, so that revisions are in the order of commits. */
interface RevisionsTable {
  latest: number
}

interface ChangesTable {
  revision: Fixed<number>
  at: Fixed<Time>
  actor: Fixed<string>
  what: Fixed<string>
  /** What the changed thing was called then; null where `what` says it all. */
  name: Fixed<string | null>
  /** On whose page it is to be seen; it may be deleted since. */
  node_id: Fixed<number | null>
  domain_id: Fixed<number | null>
}

interface EdgesTable {
  id: Generated<number>
  name: string
  /** SHA-256 of the token in hex. */
  token_hash: string
  created_at: Fixed<Time>
}

/** Rows that reach an edge. Each has the revision of its last change. */
export interface StatedTables {
  nodes: NodesTable
  domains: DomainsTable
  certificates: CertificatesTable
  challenges: ChallengesTable
  services: ServicesTable
}

/** Only `updateStated` updates such rows, so that none can change unseen. */
type Stated<T> = { [K in keyof T]: ColumnType<SelectType<T[K]>, InsertType<T[K]>, never> }
export type StatedUpdate<T extends keyof StatedTables> = Omit<Updateable<StatedTables[T]>, 'id' | 'revision'>

export interface Database {
  users: UsersTable
  sessions: SessionsTable
  sign_in_networks: SignInNetworksTable
  settings: SettingsTable
  nodes: Stated<NodesTable>
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
  domain_members: DomainMembersTable
  sign_ins: SignInsTable
  signed_out: SignedOutTable
  revisions: RevisionsTable
  changes: ChangesTable
  edges: EdgesTable
}

export type NodeRow = Selectable<NodesTable>
export type DomainRow = Selectable<DomainsTable>
export type CertificateRow = Selectable<CertificatesTable>
export type OrderRow = Selectable<OrdersTable>
export type ServiceRow = Selectable<ServicesTable>
