import { rebuildTable } from './rebuild.ts'

/** Roles besides that of an administrator, accounts without a password, and to what a person is limited. */
export const people = `${rebuildTable(
  'users',
  `
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  username TEXT NOT NULL UNIQUE,
  password_hash TEXT,
  role TEXT NOT NULL,
  is_limited INTEGER NOT NULL DEFAULT 0 CHECK (is_limited IN (0, 1)),
  is_disabled INTEGER NOT NULL DEFAULT 0 CHECK (is_disabled IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
`,
  'SELECT id, username, password_hash, role, 0, 0, created_at, updated_at FROM users',
)}
CREATE TABLE user_nodes (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  node_id INTEGER NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
  PRIMARY KEY (user_id, node_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX users_of_nodes ON user_nodes (node_id);
CREATE TABLE user_domains (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  domain_id INTEGER NOT NULL REFERENCES domains (id) ON DELETE CASCADE,
  PRIMARY KEY (user_id, domain_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX users_of_domains ON user_domains (domain_id);
`
