/**
 * What services carried: `counts` by the minute as it comes in, `minutes` packed by service and hour, `hours` packed by
 * service and day. Hours and days are counted since the epoch. The newest are last in the file, and the oldest together.
 */
export const counts = `
CREATE TABLE counts (
  service INTEGER NOT NULL,
  minute INTEGER NOT NULL,
  connections INTEGER NOT NULL,
  received INTEGER NOT NULL,
  sent INTEGER NOT NULL,
  PRIMARY KEY (service, minute)
) STRICT, WITHOUT ROWID;
CREATE TABLE minutes (
  hour INTEGER NOT NULL,
  service INTEGER NOT NULL,
  packed BLOB NOT NULL,
  PRIMARY KEY (hour, service)
) STRICT, WITHOUT ROWID;
CREATE TABLE hours (
  day INTEGER NOT NULL,
  service INTEGER NOT NULL,
  packed BLOB NOT NULL,
  PRIMARY KEY (day, service)
) STRICT, WITHOUT ROWID;
CREATE TABLE ledgers (edge_id INTEGER PRIMARY KEY, ledger TEXT NOT NULL, seq INTEGER NOT NULL) STRICT;
`
