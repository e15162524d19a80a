/** The first page counts the services of each node, and the disabled ones, out of these alone. */
export const countsOfServices = `
CREATE INDEX services_counted ON services (node_id) WHERE enabled = 1 AND system = 0;
CREATE INDEX services_disabled ON services (id) WHERE enabled = 0;
`
