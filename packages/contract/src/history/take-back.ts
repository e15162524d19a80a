/**
 * A header of requests that change something: how many seconds later the change is taken back, unless a person keeps it.
 */
export const TAKE_BACK_HEADER = 'x-postern-take-back'
/** In seconds. */
export const TAKE_BACK = { least: 10, usual: 120, most: 3600 } as const
