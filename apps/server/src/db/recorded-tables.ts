/** How the history keeps the rows of one table. */
export interface RecordedTable {
  /** What a row of it is, in the history. */
  kind: string
  /** The SQL of its name; `ROW` is the row. */
  name: string
  nodeId?: string
  domainId?: string
  /** Names of columns where the form has another than the column in camel case, with the SQL of their value. */
  fields?: Readonly<Record<string, { field: string; value?: string }>>
  /** Columns that are JSON. */
  json?: readonly string[]
  /** Columns of which only is said that they changed. All that look like a secret count too, but for `open`. */
  secret?: readonly string[]
  open?: readonly string[]
  /** Rows of which nothing is kept. */
  unless?: string
}

/** The tables that people change, and what only the installation changes but they ask about. */
export const RECORDED = {
  nodes: {
    kind: 'node',
    name: 'ROW.name',
    nodeId: 'ROW.id',
    json: ['gateway_networks', 'agent_domains'],
    open: ['public_key'],
  },
  node_tokens: {
    kind: 'token',
    name: 'ROW.name',
    nodeId: 'ROW.node_id',
    fields: {
      node_id: { field: 'node', value: '(SELECT name FROM nodes WHERE id = ROW.node_id)' },
      expire_at: { field: 'expireAt' },
    },
  },
  domains: { kind: 'domain', name: 'ROW.domain', domainId: 'ROW.id', json: ['edges'] },
  certificates: {
    kind: 'certificate',
    name: "coalesce((SELECT domain FROM domains WHERE id = ROW.domain_id), 'installation')",
    domainId: 'ROW.domain_id',
    fields: {
      domain_id: { field: 'domain', value: '(SELECT domain FROM domains WHERE id = ROW.domain_id)' },
    },
  },
  services: {
    kind: 'service',
    name: 'ROW.name',
    nodeId: 'ROW.node_id',
    domainId: 'ROW.domain_id',
    fields: {
      node_id: { field: 'node', value: '(SELECT name FROM nodes WHERE id = ROW.node_id)' },
      domain_id: { field: 'domain', value: '(SELECT domain FROM domains WHERE id = ROW.domain_id)' },
      path: { field: 'pathLocation' },
    },
    json: ['allowed_ips', 'blocked_ips'],
    open: ['skip_auth_routes', 'require_auth'],
  },
  users: { kind: 'person', name: 'ROW.username' },
  console_providers: {
    kind: 'provider',
    name: 'ROW.name',
    json: ['rules'],
    fields: { is_making_accounts: { field: 'makesAccounts' } },
  },
  password_rule: {
    kind: 'setting',
    name: "'passwordRule'",
    fields: {
      user_id: { field: 'person', value: '(SELECT username FROM users WHERE id = ROW.user_id)' },
    },
  },
  api_tokens: {
    kind: 'api-token',
    name: 'ROW.name',
    fields: {
      user_id: { field: 'person', value: '(SELECT username FROM users WHERE id = ROW.user_id)' },
      expire_at: { field: 'expireAt' },
    },
  },
  alert_rules: {
    kind: 'rule',
    name: "CASE ROW.name WHEN '' THEN ROW.kind ELSE ROW.name END",
    nodeId: 'ROW.node_id',
    domainId: 'ROW.domain_id',
  },
  alert_channels: { kind: 'channel', name: 'ROW.name', json: ['settings'] },
  edges: {
    kind: 'edge',
    name: 'ROW.name',
    json: ['addresses'],
    open: ['public_key'],
    fields: { is_console: { field: 'servesConsole' } },
  },
  settings: {
    kind: 'setting',
    name: 'ROW.key',
    secret: ['value'],
    open: ['key'],
    // Their values are recorded one by one, where they are saved.
    unless: "(ROW.key IN ('console.settings', 'alerts.quiet-hours'))",
  },
} as const satisfies Record<string, RecordedTable>

/** Rows that are a value of another record: of a list of it, or the only one. */
export const VALUES = {
  domain_members: {
    kind: "'domain'",
    of: 'ROW.domain_id',
    field: 'allowedEmails',
    value: 'ROW.email',
    isList: true,
  },
  user_nodes: {
    kind: "'person'",
    of: 'ROW.user_id',
    field: 'nodes',
    value: '(SELECT name FROM nodes WHERE id = ROW.node_id)',
    isList: true,
  },
  user_domains: {
    kind: "'person'",
    of: 'ROW.user_id',
    field: 'domains',
    value: '(SELECT domain FROM domains WHERE id = ROW.domain_id)',
    isList: true,
  },
  api_token_nodes: {
    kind: "'api-token'",
    of: 'ROW.token_id',
    field: 'nodes',
    value: '(SELECT name FROM nodes WHERE id = ROW.node_id)',
    isList: true,
  },
  api_token_domains: {
    kind: "'api-token'",
    of: 'ROW.token_id',
    field: 'domains',
    value: '(SELECT domain FROM domains WHERE id = ROW.domain_id)',
    isList: true,
  },
  authenticators: {
    kind: "'person'",
    of: 'ROW.user_id',
    field: 'authenticatorApp',
    value: "'set'",
    isList: false,
  },
  passkeys: { kind: "'person'", of: 'ROW.user_id', field: 'passkeys', value: 'ROW.name', isList: true },
  // So that an undo knows what an agent would publish again.
  publications: {
    kind: "'service'",
    of: 'ROW.service_id',
    field: 'source',
    value: 'CASE WHEN ROW.service_id IS NULL THEN NULL ELSE ROW.source END',
    isList: false,
  },
  user_identities: {
    kind: "'person'",
    of: 'ROW.user_id',
    field: 'signsInBy',
    value: '(SELECT name FROM console_providers WHERE id = ROW.provider_id)',
    isList: true,
  },
  join_tokens: {
    kind: "'edge'",
    of: 'ROW.edge_id',
    field: 'joinableUntil',
    value: 'ROW.expires_at',
    isList: false,
  },
  mutes: {
    kind: "CASE WHEN ROW.node_id IS NULL THEN 'service' ELSE 'node' END",
    of: 'coalesce(ROW.node_id, ROW.service_id)',
    field: 'mutedUntil',
    value: "coalesce(ROW.until, 'unmuted')",
    isList: false,
  },
} as const

/** Columns that change without anything that a person would call a change. */
export const UNTOLD: ReadonlySet<string> = new Set([
  'id',
  'revision',
  'created_at',
  'updated_at',
  'name_folded',
  'is_local',
  'replaces_id',
  'last_sign_in_at',
  'is_made',
  // Public, but long, and nobody reads it.
  'chain',
  'system',
  'key_token_id',
  'file_edges',
])
