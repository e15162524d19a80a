/** The constants of the console's behaviour. Durations are in milliseconds. */
export const TOAST_DURATION = 6000
/** For a message that offers something, to read it and to get there. */
export const ACTION_DURATION = 20_000
/** What is done sooner needs no word of its progress. */
export const BUSY_DELAY = 400
export const COPIED_DURATION = 2000
export const SEARCH_DELAY = 300
/** The palette answers while a person types. */
export const FIND_DELAY = 100
export const AUTOCOMPLETE_CLOSE_DELAY = 150
export const TOOLTIP_DELAY = 250
/** Time for the pointer to move from the trigger to the tooltip. */
export const TOOLTIP_PATIENCE = 100
export const STREAM_RECONNECT_DELAY = 1000
/** The server sends a comment every 15 s: a stream that is silent for longer has died on the way. */
export const STREAM_SILENCE_LIMIT = 45_000
export const STREAM_MESSAGE_LIMIT = 4_000_000
export const REQUEST_TIMEOUT = 10_000
/** Longer than a start of the server, so that an edge which was only briefly disconnected makes no banner. */
export const EDGE_ABSENCE_SHOWN = 6000
/** A lost stream of a node is not opened again; its figures are then requested this often. */
export const LOST_STREAM_POLL = 15_000
export const CLOCK_INTERVAL = 1000
export const TERMINAL_STEP = 2000
/** After this the first page has been drawn. */
export const PRELOAD_DELAY = 1000
