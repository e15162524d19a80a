/** Of names that services had, the newest are kept; those of the console are few. */
const KEPT = 200_000

// Without a look first, each name that is known would take an id, by which the oldest are forgotten.
const NOTE = (service: 'NEW' | 'services', from: string) => `
  INSERT INTO used_names (domain, is_console)
    SELECT DISTINCT domains.domain, ${service}.system = 1 FROM ${from}
      AND NOT EXISTS (SELECT 1 FROM used_names WHERE domain = domains.domain AND is_console = (${service}.system = 1));
`

/**
 * The names at which services, or the console, have ever been: browsers keep what was there. Written by the database
 * itself, so that no way to a name is forgotten. A migration that rebuilds `services` or `domains` has to make the triggers
 * again. Sessions from before do not say at which name they began.
 */
export const usedNames = `
CREATE TABLE used_names (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  domain TEXT NOT NULL,
  is_console INTEGER NOT NULL CHECK (is_console IN (0, 1)),
  UNIQUE (domain, is_console)
) STRICT;
CREATE TRIGGER names_are_bounded AFTER INSERT ON used_names BEGIN
  DELETE FROM used_names WHERE id <= NEW.id - ${KEPT} AND is_console = 0;
END;
CREATE TRIGGER name_used_by_new AFTER INSERT ON services WHEN NEW.domain_id IS NOT NULL BEGIN${NOTE('NEW', 'domains WHERE domains.id = NEW.domain_id')}END;
CREATE TRIGGER name_used_by_change AFTER UPDATE OF domain_id ON services
  WHEN NEW.domain_id IS NOT NULL AND NEW.domain_id IS NOT OLD.domain_id BEGIN${NOTE('NEW', 'domains WHERE domains.id = NEW.domain_id')}END;
CREATE TRIGGER name_used_by_renamed AFTER UPDATE OF domain ON domains WHEN NEW.domain IS NOT OLD.domain BEGIN${NOTE('services', 'services JOIN domains ON domains.id = services.domain_id WHERE domains.id = NEW.id')}END;
${NOTE('services', 'services JOIN domains ON domains.id = services.domain_id WHERE 1')}
ALTER TABLE sessions ADD COLUMN host TEXT NOT NULL DEFAULT '';
DELETE FROM sessions;
`
