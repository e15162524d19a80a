/** What each service carried since this HAProxy began, by the id of the service. */
export const COUNTS_TABLE = 'counts/services'

/** Rows of services that nobody visits any more make room for others. */
const SIZE = '200k'

/**
 * In a section of peers, because HAProxy that has handed over empties the tables of its backends before somebody has
 * read them. No peer is in it, and `disabled` says that none is missing.
 */
export function renderCountsTable(): string {
  return `peers counts
  disabled
  table services type integer size ${SIZE} store conn_cnt,bytes_in_cnt,bytes_out_cnt
`
}
