/**
 * An entry's fields can go without it, and runs of entries can become one, by whose share they count to. The chain
 * begins anew, as the hashes of before covered the fields themselves.
 */
export const sharesOfHistory = `
ALTER TABLE changes ADD COLUMN share TEXT NOT NULL DEFAULT '';
ALTER TABLE changes ADD COLUMN record_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE changes ADD COLUMN records_hash TEXT;
ALTER TABLE changes ADD COLUMN gone_hash TEXT;
ALTER TABLE changes ADD COLUMN is_stripped INTEGER NOT NULL DEFAULT 0 CHECK (is_stripped IN (0, 1));
ALTER TABLE changes ADD COLUMN folded INTEGER;
ALTER TABLE changes ADD COLUMN first_at TEXT;
ALTER TABLE changes ADD COLUMN before_hash TEXT;
CREATE INDEX changes_of_shares ON changes (share, actor_kind, actor_id, revision, bytes) WHERE folded IS NULL;
CREATE INDEX changes_gone ON changes (revision) WHERE folded IS NOT NULL OR is_stripped = 1;
UPDATE changes SET hash = NULL WHERE hash IS NOT NULL;
UPDATE change_chain SET start_revision = head_revision, start_hash = '', head_hash = '';
`
