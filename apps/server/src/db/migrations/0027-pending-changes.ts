/** Changes that are taken back at a time, unless a person keeps them. */
export const pendingChanges = `
CREATE TABLE pending_changes (
  revision INTEGER PRIMARY KEY,
  due_at INTEGER NOT NULL,
  problem TEXT
) STRICT;
`
