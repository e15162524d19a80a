/** The token that a new one replaces, until the new one is used. The ids of tokens are never given twice. */
export const rotatedTokens = `
ALTER TABLE node_tokens ADD COLUMN replaces_id INTEGER;
`
