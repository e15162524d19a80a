import { rebuildTable } from './rebuild.ts'

/** Services with a public port of their own, which no other service of the protocol has; and what lists are sorted by. */
export const ports = `
${rebuildTable(
  'services',
  `
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  type TEXT NOT NULL,
  node_id INTEGER NOT NULL REFERENCES nodes (id) ON DELETE RESTRICT,
  name TEXT NOT NULL,
  name_folded TEXT NOT NULL,
  domain_id INTEGER REFERENCES domains (id) ON DELETE RESTRICT,
  path TEXT,
  backend_proto TEXT,
  proto TEXT,
  port INTEGER,
  ssl INTEGER CHECK (ssl IN (0, 1)),
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
  `SELECT id, type, node_id, name, fold(name), domain_id, path, backend_proto, NULL, NULL, NULL, backend_host,
  backend_port, allowed_ips, blocked_ips, enabled, system, created_at, updated_at, revision FROM services`,
)}
CREATE UNIQUE INDEX services_route ON services (coalesce(domain_id, 0), path) WHERE type = 'http';
CREATE UNIQUE INDEX services_port ON services (proto, port) WHERE type = 'tcp';
CREATE UNIQUE INDEX services_one_system ON services (system) WHERE system = 1;
CREATE INDEX services_type ON services (type, id);
CREATE INDEX services_name ON services (type, name_folded, id, domain_id);
CREATE INDEX services_created ON services (type, created_at, id);
CREATE INDEX services_node ON services (node_id, type, id);
CREATE INDEX services_domain ON services (domain_id, type, id);
CREATE INDEX services_revision ON services (revision);
CREATE INDEX domains_created ON domains (created_at, id);
`
