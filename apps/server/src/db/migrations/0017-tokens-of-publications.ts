/**
 * By which token the agent of a node last published each service. The ids of tokens are never given twice, so that one
 * which is gone names nothing. Of older services it is known where the node has one token only.
 */
export const tokensOfPublications = `
ALTER TABLE publications ADD COLUMN token_id INTEGER;
UPDATE publications SET token_id =
  (SELECT iif(count(*) = 1, min(id), NULL) FROM node_tokens WHERE node_id = publications.node_id);
`
