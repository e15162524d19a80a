/**
 * What the agent of a node may publish at most; a node that has more keeps it. Addresses that a person disabled, by what
 * visitors see. Who had a public port last: written by the database itself, so that no way to free one is forgotten.
 * A migration that rebuilds `services` has to make the triggers again.
 */
export const sharesOfAgents = `
ALTER TABLE nodes ADD COLUMN agent_max_services INTEGER NOT NULL DEFAULT 200;
ALTER TABLE nodes ADD COLUMN agent_max_domains INTEGER NOT NULL DEFAULT 50;
ALTER TABLE nodes ADD COLUMN agent_max_ports INTEGER NOT NULL DEFAULT 20;
ALTER TABLE nodes ADD COLUMN agent_max_entries INTEGER NOT NULL DEFAULT 5000;
UPDATE nodes SET
  agent_max_services = max(200, used.services),
  agent_max_domains = max(50, used.domains),
  agent_max_ports = max(20, used.ports),
  agent_max_entries = max(5000, used.entries)
FROM (
  SELECT services.node_id, count(*) AS services, count(DISTINCT domain_id) AS domains, sum(type = 'tcp') AS ports,
    sum(json_array_length(allowed_ips) + json_array_length(blocked_ips)) AS entries
  FROM services JOIN publications ON publications.service_id = services.id GROUP BY services.node_id
) AS used WHERE used.node_id = nodes.id;

CREATE TABLE held_addresses (
  node_id INTEGER NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
  address TEXT NOT NULL,
  PRIMARY KEY (node_id, address)
) STRICT, WITHOUT ROWID;
INSERT INTO held_addresses
  SELECT DISTINCT services.node_id,
    iif(type = 'http', domains.domain || coalesce(path, '/'), proto || ':' || port)
  FROM publications JOIN services ON services.id = publications.service_id
    LEFT JOIN domains ON domains.id = services.domain_id
  WHERE held = 1 AND (domains.id IS NOT NULL OR port IS NOT NULL);

CREATE TABLE freed_ports (
  proto TEXT NOT NULL,
  port INTEGER NOT NULL,
  node_id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (proto, port)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER port_freed_by_deletion AFTER DELETE ON services WHEN OLD.port IS NOT NULL BEGIN
  INSERT OR REPLACE INTO freed_ports
    VALUES (OLD.proto, OLD.port, OLD.node_id, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
CREATE TRIGGER port_freed_by_change AFTER UPDATE OF port, proto ON services
  WHEN OLD.port IS NOT NULL AND (NEW.port IS NOT OLD.port OR NEW.proto IS NOT OLD.proto) BEGIN
  INSERT OR REPLACE INTO freed_ports
    VALUES (OLD.proto, OLD.port, OLD.node_id, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
`
