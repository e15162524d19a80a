/** How much each service has carried since this HAProxy started, by the service's id. */
export const COUNTS_TABLE = 'counts/services'

/** When it is full, services that nobody visits lose their rows. */
const SIZE = '200k'

/**
 * In a section of peers, because a HAProxy that has handed over empties the tables of its backends before the edge
 * has read them. It has no peers, and `disabled` says that none is missing.
 */
export function renderCountsTable(): string {
  return `peers counts
  disabled
  table services type integer size ${SIZE} store conn_cnt,bytes_in_cnt,bytes_out_cnt
`
}
