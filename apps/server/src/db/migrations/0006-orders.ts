/** Certificates of a public authority: what is on order there, and what the edges answer it with. */
export const orders = `
ALTER TABLE certificates ADD COLUMN kind TEXT NOT NULL DEFAULT 'self-signed';

CREATE TABLE orders (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  domain_id INTEGER NOT NULL UNIQUE REFERENCES domains (id) ON DELETE RESTRICT,
  step TEXT,
  due_at INTEGER NOT NULL,
  directory TEXT,
  url TEXT,
  private_key TEXT,
  failures INTEGER NOT NULL,
  problem TEXT,
  info_at INTEGER,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX orders_due ON orders (step, due_at);
CREATE INDEX orders_info ON orders (info_at);

CREATE TABLE challenges (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  domain_id INTEGER NOT NULL REFERENCES domains (id) ON DELETE RESTRICT,
  token TEXT NOT NULL,
  thumbprint TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  revision INTEGER NOT NULL
) STRICT;
CREATE INDEX challenges_domain ON challenges (domain_id);
CREATE INDEX challenges_revision ON challenges (revision);
`
