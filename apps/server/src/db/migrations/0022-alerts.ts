/**
 * Rules; channels with their sealed secrets; what rules found, once for each time that it
 * began; and the messages to channels: those that wait are sent again after a restart, the others are history.
 */
export const alerts = `
CREATE TABLE alert_rules (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  minutes INTEGER,
  threshold INTEGER,
  figure TEXT,
  comparison TEXT,
  node_id INTEGER REFERENCES nodes (id) ON DELETE CASCADE,
  service_id INTEGER REFERENCES services (id) ON DELETE CASCADE,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX alert_rules_built_in ON alert_rules (kind) WHERE kind != 'figure';
CREATE INDEX alert_rules_of_nodes ON alert_rules (node_id);
CREATE INDEX alert_rules_of_services ON alert_rules (service_id);
CREATE TABLE alert_channels (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  settings TEXT NOT NULL,
  secrets TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE TABLE alerts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL,
  rule_id INTEGER NOT NULL REFERENCES alert_rules (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  node_id INTEGER,
  node_name TEXT,
  service_id INTEGER,
  address TEXT,
  problem TEXT NOT NULL,
  since INTEGER NOT NULL,
  first_told INTEGER,
  last_told INTEGER,
  cleared_at INTEGER,
  is_over INTEGER NOT NULL DEFAULT 0 CHECK (is_over IN (0, 1))
) STRICT;
CREATE UNIQUE INDEX alerts_open ON alerts (key) WHERE cleared_at IS NULL;
CREATE INDEX alerts_to_tell ON alerts (id) WHERE is_over = 0;
CREATE INDEX alerts_of_rules ON alerts (rule_id);
CREATE TABLE alert_deliveries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  channel_id INTEGER REFERENCES alert_channels (id) ON DELETE SET NULL,
  channel_name TEXT NOT NULL,
  event TEXT NOT NULL,
  message TEXT NOT NULL,
  status TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  problem TEXT,
  at INTEGER NOT NULL,
  sent_at INTEGER
) STRICT;
CREATE INDEX alert_deliveries_waiting ON alert_deliveries (channel_id, id) WHERE status = 'waiting';
CREATE INDEX alert_deliveries_at ON alert_deliveries (at);
CREATE TABLE mutes (
  id INTEGER PRIMARY KEY,
  node_id INTEGER UNIQUE REFERENCES nodes (id) ON DELETE CASCADE,
  service_id INTEGER UNIQUE REFERENCES services (id) ON DELETE CASCADE,
  until TEXT
) STRICT;
`
