/** Links for people, what is known of a session's use, and when somebody was last here. */
export const invites = `
CREATE TABLE invites (
  user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  token_hash TEXT NOT NULL UNIQUE,
  is_reset INTEGER NOT NULL CHECK (is_reset IN (0, 1)),
  expires_at INTEGER NOT NULL
) STRICT;
ALTER TABLE sessions ADD COLUMN browser TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN address TEXT;
ALTER TABLE sessions ADD COLUMN last_used_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN last_sign_in_at INTEGER;
`
