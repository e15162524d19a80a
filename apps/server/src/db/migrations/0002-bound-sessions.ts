/** The second half of a session's credential, and where accounts have signed in from. */
export const boundSessions = `
ALTER TABLE sessions ADD COLUMN key_hash TEXT;

CREATE TABLE sign_in_networks (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  network TEXT NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (user_id, network)
) STRICT;
`
