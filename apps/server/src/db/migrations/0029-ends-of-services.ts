/** When a service is deleted by the server; of 20,000 services, the index holds only those that have an end. */
export const endsOfServices = `
ALTER TABLE services ADD COLUMN ends_at TEXT;
CREATE INDEX services_ending ON services (ends_at) WHERE ends_at IS NOT NULL;
`
