/** Sessions of visitors who signed out: by the moment at which the provider was asked, as each of its renewals says it. */
export const signedOut = `
CREATE TABLE signed_out (
  domain_id INTEGER NOT NULL REFERENCES domains (id) ON DELETE RESTRICT,
  email TEXT NOT NULL,
  auth_time INTEGER NOT NULL,
  PRIMARY KEY (domain_id, email, auth_time)
) STRICT, WITHOUT ROWID;
`
