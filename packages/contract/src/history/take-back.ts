/**
 * A header of requests that change something: how many seconds later the change is taken back, unless a person keeps it.
 * It has no `x-postern-` in front, because HAProxy cuts off all of these.
 */
export const TAKE_BACK_HEADER = 'take-back-after'
/** In seconds. */
export const TAKE_BACK = { least: 10, usual: 120, most: 3600 } as const
