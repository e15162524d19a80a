/** Who made each change, from where, and what was before and after; entries are chained by their hashes. */
export const history = `
ALTER TABLE changes ADD COLUMN actor_kind TEXT;
ALTER TABLE changes ADD COLUMN actor_id INTEGER;
ALTER TABLE changes ADD COLUMN address TEXT;
ALTER TABLE changes ADD COLUMN undoes INTEGER;
ALTER TABLE changes ADD COLUMN left_out INTEGER NOT NULL DEFAULT 0;
ALTER TABLE changes ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE changes ADD COLUMN hash TEXT;
CREATE INDEX changes_of_nodes ON changes (node_id, revision) WHERE node_id IS NOT NULL;
CREATE INDEX changes_of_domains ON changes (domain_id, revision) WHERE domain_id IS NOT NULL;
CREATE INDEX changes_of_actors ON changes (actor, revision);
CREATE INDEX changes_undoing ON changes (undoes) WHERE undoes IS NOT NULL;
CREATE INDEX changes_at ON changes (at);
CREATE TABLE change_records (
  revision INTEGER NOT NULL,
  position INTEGER NOT NULL,
  kind TEXT NOT NULL,
  record_id INTEGER,
  node_id INTEGER,
  domain_id INTEGER,
  name TEXT NOT NULL,
  before TEXT,
  after TEXT,
  PRIMARY KEY (revision, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX change_records_of ON change_records (kind, record_id, revision);
CREATE INDEX change_records_of_nodes ON change_records (node_id, revision) WHERE node_id IS NOT NULL;
CREATE INDEX change_records_of_domains ON change_records (domain_id, revision) WHERE domain_id IS NOT NULL;
CREATE INDEX change_records_named ON change_records (name, revision);
CREATE TABLE change_chain (
  start_revision INTEGER NOT NULL,
  start_hash TEXT NOT NULL,
  head_revision INTEGER NOT NULL,
  head_hash TEXT NOT NULL,
  bytes INTEGER NOT NULL
) STRICT;
INSERT INTO change_chain SELECT latest, '', latest, '', 0 FROM revisions;
`
