/** So that people can read what changed, and go there. */
export const namesOfChanges = `
ALTER TABLE changes ADD COLUMN name TEXT;
ALTER TABLE changes ADD COLUMN node_id INTEGER;
ALTER TABLE changes ADD COLUMN domain_id INTEGER;
`
