/** Tickets of sign-ins that have been used, until they would have ended anyway. */
export const usedTickets = `
CREATE TABLE used_tickets (
  id TEXT PRIMARY KEY,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`
