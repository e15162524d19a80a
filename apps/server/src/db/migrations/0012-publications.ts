/**
 * Services that a node's agent publishes by itself, where its node may. A row without a service is a memory of what a
 * person disabled, for when it comes back.
 */
export const publications = `
ALTER TABLE nodes ADD COLUMN agent_may_publish INTEGER NOT NULL DEFAULT 0 CHECK (agent_may_publish IN (0, 1));

CREATE TABLE publications (
  node_id INTEGER NOT NULL REFERENCES nodes (id) ON DELETE RESTRICT,
  source TEXT NOT NULL,
  key TEXT NOT NULL,
  service_id INTEGER UNIQUE REFERENCES services (id) ON DELETE RESTRICT,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  held INTEGER NOT NULL CHECK (held IN (0, 1)),
  PRIMARY KEY (node_id, source, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE published_domains (
  domain_id INTEGER PRIMARY KEY REFERENCES domains (id) ON DELETE RESTRICT
) STRICT;
`
