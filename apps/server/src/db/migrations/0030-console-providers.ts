/**
 * Providers with which people sign in to the console, the accounts there with which they do, and the one person who may
 * use a password: null is everybody. A session remembers the provider that it was begun by.
 */
export const consoleProviders = `
CREATE TABLE console_providers (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  issuer TEXT NOT NULL,
  client_id TEXT NOT NULL,
  client_secret TEXT NOT NULL,
  is_making_accounts INTEGER NOT NULL CHECK (is_making_accounts IN (0, 1)),
  rules TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE TABLE user_identities (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  provider_id INTEGER NOT NULL REFERENCES console_providers (id) ON DELETE CASCADE,
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  email TEXT,
  is_made_by_sign_in INTEGER NOT NULL CHECK (is_made_by_sign_in IN (0, 1)),
  created_at TEXT NOT NULL,
  last_used_at TEXT,
  UNIQUE (provider_id, issuer, subject)
) STRICT;
CREATE INDEX identities_of_users ON user_identities (user_id);
CREATE TABLE password_rule (
  id INTEGER PRIMARY KEY,
  user_id INTEGER REFERENCES users (id)
) STRICT;
INSERT INTO password_rule (id, user_id) VALUES (1, NULL);
ALTER TABLE sessions ADD COLUMN provider_id INTEGER;
`
