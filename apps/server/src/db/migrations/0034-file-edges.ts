/**
 * The edges that a node's WireGuard file has, as JSON of their ids; null: the one beside the server, as in all files of
 * before.
 */
export const fileEdges = 'ALTER TABLE nodes ADD COLUMN file_edges TEXT;'
