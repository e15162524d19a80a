/** Sign-in in front of services. The id of an entry is never given twice: sessions are known by it. */
export const signIn = `
ALTER TABLE domains ADD COLUMN authentication INTEGER NOT NULL DEFAULT 0 CHECK (authentication IN (0, 1));
ALTER TABLE services ADD COLUMN require_auth INTEGER NOT NULL DEFAULT 0 CHECK (require_auth IN (0, 1));
ALTER TABLE services ADD COLUMN skip_auth_routes TEXT;
CREATE TABLE domain_members (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  domain_id INTEGER NOT NULL REFERENCES domains (id) ON DELETE RESTRICT,
  email TEXT NOT NULL,
  UNIQUE (domain_id, email)
) STRICT;
`
