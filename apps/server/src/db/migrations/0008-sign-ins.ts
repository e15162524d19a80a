/** Who came to services that require sign-in, for some time. */
export const signIns = `
CREATE TABLE sign_ins (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  domain_id INTEGER NOT NULL REFERENCES domains (id) ON DELETE RESTRICT,
  email TEXT NOT NULL,
  address TEXT NOT NULL,
  outcome TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
CREATE INDEX sign_ins_domain ON sign_ins (domain_id, id);
`
