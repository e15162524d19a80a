/**
 * By which token the agent of a node registered the key that the node has. The ids of tokens are never given twice, so
 * that one which is gone names nothing. Of older keys it is known where the node has one token only.
 */
export const tokensOfKeys = `
ALTER TABLE nodes ADD COLUMN key_token_id INTEGER;
UPDATE nodes
  SET key_token_id = (SELECT iif(count(*) = 1, min(id), NULL) FROM node_tokens WHERE node_id = nodes.id)
  WHERE public_key IS NOT NULL AND private_key IS NULL;
`
