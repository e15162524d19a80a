/** Tokens of programs, each with rights of its person, limited to some nodes and domains or to nothing. */
export const apiTokens = `
CREATE TABLE api_tokens (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL,
  is_limited INTEGER NOT NULL CHECK (is_limited IN (0, 1)),
  expire_at TEXT NOT NULL,
  revoked INTEGER NOT NULL DEFAULT 0 CHECK (revoked IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX api_tokens_of_users ON api_tokens (user_id);
CREATE TABLE api_token_nodes (
  token_id INTEGER NOT NULL REFERENCES api_tokens (id) ON DELETE CASCADE,
  node_id INTEGER NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
  PRIMARY KEY (token_id, node_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX api_tokens_of_nodes ON api_token_nodes (node_id);
CREATE TABLE api_token_domains (
  token_id INTEGER NOT NULL REFERENCES api_tokens (id) ON DELETE CASCADE,
  domain_id INTEGER NOT NULL REFERENCES domains (id) ON DELETE CASCADE,
  PRIMARY KEY (token_id, domain_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX api_tokens_of_domains ON api_token_domains (domain_id);
`
