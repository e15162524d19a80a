/** One node's services in each order that a list has: without these, SQLite walks those of all nodes. */
export const listsOfANode = `
CREATE INDEX services_node_name ON services (node_id, type, name_folded, id);
CREATE INDEX services_node_created ON services (node_id, type, created_at, id);
`
