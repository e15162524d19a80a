/**
 * Edges on machines of their own. `number` is the last part of an edge's address in the tunnel; number 1 is the edge
 * beside the server, whose tunnel key is a setting. An edge that joined proves itself by the key of its certificate.
 * A domain is at all edges, or at those of its list.
 */
export const edgesElsewhere = `
ALTER TABLE edges ADD COLUMN number INTEGER NOT NULL DEFAULT 1;
ALTER TABLE edges ADD COLUMN place TEXT;
ALTER TABLE edges ADD COLUMN host TEXT;
ALTER TABLE edges ADD COLUMN tunnel_port INTEGER;
ALTER TABLE edges ADD COLUMN private_key TEXT;
ALTER TABLE edges ADD COLUMN public_key TEXT;
ALTER TABLE edges ADD COLUMN certificate_key TEXT;
ALTER TABLE edges ADD COLUMN certificate_until TEXT;
ALTER TABLE edges ADD COLUMN addresses TEXT NOT NULL DEFAULT '[]';
ALTER TABLE edges ADD COLUMN is_console INTEGER NOT NULL DEFAULT 0 CHECK (is_console IN (0, 1));
ALTER TABLE edges ADD COLUMN is_drained INTEGER NOT NULL DEFAULT 0 CHECK (is_drained IN (0, 1));
ALTER TABLE edges ADD COLUMN joined_at TEXT;
ALTER TABLE edges ADD COLUMN updated_at TEXT NOT NULL DEFAULT '';
ALTER TABLE domains ADD COLUMN edges TEXT;
CREATE UNIQUE INDEX edges_numbered ON edges (number);
CREATE UNIQUE INDEX edges_of_keys ON edges (certificate_key) WHERE certificate_key IS NOT NULL;
UPDATE edges SET is_console = 1, joined_at = created_at, updated_at = created_at;
CREATE TABLE join_tokens (
  hash TEXT PRIMARY KEY,
  edge_id INTEGER NOT NULL UNIQUE REFERENCES edges (id) ON DELETE CASCADE,
  expires_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`
