/**
 * A number that grows with every write to a table, by whoever and also by a cascade: who keeps something made from
 * these rows sees whether it is still right without reading them.
 */
const stamped = ['nodes', 'domains', 'certificates', 'services']
const stampTriggers = stamped.flatMap((table) => [
  `INSERT INTO stamps (name, value) VALUES ('${table}', 0);`,
  ...['INSERT', 'UPDATE', 'DELETE'].map(
    (event) => `CREATE TRIGGER ${table}_stamp_${event.toLowerCase()} AFTER ${event} ON ${table}
BEGIN UPDATE stamps SET value = value + 1 WHERE name = '${table}'; END;`,
  ),
])

/** All ids are AUTOINCREMENT: SQLite would hand out the id of a deleted row again, and ids live on in maps and logs. */
export const initial = `
CREATE TABLE users (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  username TEXT NOT NULL UNIQUE,
  password_hash TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('admin')),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  token_hash TEXT NOT NULL UNIQUE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  expires_at INTEGER NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_expiry ON sessions (expires_at);

CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE nodes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  name_folded TEXT NOT NULL,
  address TEXT NOT NULL UNIQUE,
  dns TEXT,
  keepalive INTEGER NOT NULL,
  is_gateway INTEGER NOT NULL CHECK (is_gateway IN (0, 1)),
  gateway_networks TEXT NOT NULL,
  allow_internet INTEGER NOT NULL CHECK (allow_internet IN (0, 1)),
  advanced INTEGER NOT NULL CHECK (advanced IN (0, 1)),
  is_local INTEGER NOT NULL CHECK (is_local IN (0, 1)),
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  public_key TEXT UNIQUE,
  private_key TEXT,
  preshared_key TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX nodes_one_local ON nodes (is_local) WHERE is_local = 1;
CREATE INDEX nodes_name ON nodes (name_folded, id);
CREATE INDEX nodes_created ON nodes (created_at, id);

CREATE TABLE node_tokens (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  node_id INTEGER NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  expire_at TEXT,
  revoked INTEGER NOT NULL CHECK (revoked IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX node_tokens_node ON node_tokens (node_id);

CREATE TABLE domains (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  domain TEXT NOT NULL UNIQUE,
  ssl TEXT CHECK (ssl IN ('self-signed')),
  skip_validation INTEGER NOT NULL CHECK (skip_validation IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE certificates (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  domain_id INTEGER UNIQUE REFERENCES domains (id) ON DELETE CASCADE,
  status TEXT NOT NULL CHECK (status IN ('valid', 'pending', 'failed')),
  issuer TEXT,
  chain TEXT,
  private_key TEXT,
  not_before TEXT,
  not_after TEXT,
  error TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE services (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  type TEXT NOT NULL CHECK (type IN ('http')),
  node_id INTEGER NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  domain_id INTEGER REFERENCES domains (id) ON DELETE RESTRICT,
  path TEXT NOT NULL,
  backend_proto TEXT NOT NULL CHECK (backend_proto IN ('http', 'https')),
  backend_host TEXT,
  backend_port INTEGER NOT NULL,
  allowed_ips TEXT NOT NULL,
  blocked_ips TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  system INTEGER NOT NULL CHECK (system IN (0, 1)),
  revision INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX services_route ON services (coalesce(domain_id, 0), path);
CREATE UNIQUE INDEX services_one_system ON services (system) WHERE system = 1;
CREATE INDEX services_node ON services (node_id, id);
CREATE INDEX services_domain ON services (domain_id, id);
CREATE INDEX services_revision ON services (revision);

CREATE TABLE changes (
  revision INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  actor TEXT NOT NULL,
  what TEXT NOT NULL
) STRICT;

CREATE TABLE edges (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  token_hash TEXT NOT NULL UNIQUE,
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE stamps (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
${stampTriggers.join('\n')}
`
