/** Rows that are older than a day protect nobody. */
const NOTE = `
  DELETE FROM freed_domains WHERE at < CAST(unixepoch('subsec') * 1000 AS INTEGER) - 86400000;
  INSERT OR REPLACE INTO freed_domains
    SELECT domain, OLD.node_id, CAST(unixepoch('subsec') * 1000 AS INTEGER) FROM domains WHERE id = OLD.domain_id;
`

/**
 * Which node had services at a domain last, as `freed_ports` says of ports: written by the database itself, so that no way
 * to leave a name is forgotten. A migration that rebuilds `services` has to make the triggers again.
 */
export const freedDomains = `
CREATE TABLE freed_domains (
  domain TEXT NOT NULL PRIMARY KEY,
  node_id INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX freed_domains_node ON freed_domains (node_id, at);
CREATE INDEX freed_domains_at ON freed_domains (at);
CREATE TRIGGER domain_freed_by_deletion AFTER DELETE ON services
  WHEN OLD.domain_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM services WHERE domain_id = OLD.domain_id) BEGIN${NOTE}END;
CREATE TRIGGER domain_freed_by_change AFTER UPDATE OF domain_id ON services
  WHEN OLD.domain_id IS NOT NULL AND NEW.domain_id IS NOT OLD.domain_id
    AND NOT EXISTS (SELECT 1 FROM services WHERE domain_id = OLD.domain_id) BEGIN${NOTE}END;
`
