/**
 * SQL that gives a table another definition and keeps its rows, and the ids that were ever given: those of deleted
 * rows live on in maps and logs. Indexes go with the old table; references to it stay.
 * Triggers of other tables may name it: by the pragma SQLite renames it without a look at them.
 * @param definition what stands between the brackets of CREATE TABLE
 * @param rows a query for the rows in their new form; default: as they are
 */
export function rebuildTable(name: string, definition: string, rows = `SELECT * FROM ${name}`): string {
  return `
CREATE TABLE new_${name} (${definition}) STRICT;
INSERT INTO new_${name} ${rows};
DELETE FROM sqlite_sequence WHERE name = 'new_${name}';
INSERT INTO sqlite_sequence SELECT 'new_${name}', seq FROM sqlite_sequence WHERE name = '${name}';
DROP TABLE ${name};
PRAGMA legacy_alter_table = ON;
ALTER TABLE new_${name} RENAME TO ${name};
PRAGMA legacy_alter_table = OFF;
`
}
