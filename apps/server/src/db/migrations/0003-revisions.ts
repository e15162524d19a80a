import { rebuildTable } from './rebuild.ts'

/**
 * Every row that reaches an edge bears the revision of its last change, which is how the state is kept up to date.
 * Such rows go one by one and on purpose: no key of theirs cascades. Values that will grow (roles, kinds of services
 * and certificates) are checked by the contract and not by the tables.
 */
export const revisions = `
CREATE TABLE revisions (latest INTEGER NOT NULL) STRICT;
INSERT INTO revisions SELECT coalesce(max(revision), 0) FROM changes;

${['nodes', 'domains', 'certificates', 'services']
  .flatMap((table) => ['insert', 'update', 'delete'].map((event) => `DROP TRIGGER ${table}_stamp_${event};`))
  .join('\n')}
DROP TABLE stamps;

${rebuildTable(
  'users',
  `
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  username TEXT NOT NULL UNIQUE,
  password_hash TEXT NOT NULL,
  role TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
`,
)}

ALTER TABLE nodes ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
CREATE INDEX nodes_revision ON nodes (revision);

${rebuildTable(
  'domains',
  `
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  domain TEXT NOT NULL UNIQUE,
  ssl TEXT,
  skip_validation INTEGER NOT NULL CHECK (skip_validation IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  revision INTEGER NOT NULL
`,
  `SELECT *, 0 FROM domains`,
)}
CREATE INDEX domains_revision ON domains (revision);

${rebuildTable(
  'certificates',
  `
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  domain_id INTEGER UNIQUE REFERENCES domains (id) ON DELETE RESTRICT,
  status TEXT NOT NULL,
  issuer TEXT,
  chain TEXT,
  private_key TEXT,
  not_before TEXT,
  not_after TEXT,
  error TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  revision INTEGER NOT NULL
`,
  `SELECT *, 0 FROM certificates`,
)}
CREATE INDEX certificates_revision ON certificates (revision);

${rebuildTable(
  'services',
  `
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  type TEXT NOT NULL,
  node_id INTEGER NOT NULL REFERENCES nodes (id) ON DELETE RESTRICT,
  name TEXT NOT NULL,
  domain_id INTEGER REFERENCES domains (id) ON DELETE RESTRICT,
  path TEXT,
  backend_proto TEXT,
  backend_host TEXT,
  backend_port INTEGER NOT NULL,
  allowed_ips TEXT NOT NULL,
  blocked_ips TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  system INTEGER NOT NULL CHECK (system IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  revision INTEGER NOT NULL
`,
  `SELECT id, type, node_id, name, domain_id, path, backend_proto, backend_host, backend_port,
  allowed_ips, blocked_ips, enabled, system, created_at, updated_at, revision FROM services`,
)}
CREATE UNIQUE INDEX services_route ON services (coalesce(domain_id, 0), path) WHERE type = 'http';
CREATE UNIQUE INDEX services_one_system ON services (system) WHERE system = 1;
CREATE INDEX services_node ON services (node_id, id);
CREATE INDEX services_domain ON services (domain_id, id);
CREATE INDEX services_revision ON services (revision);
`
