/** The constants of the console's behaviour. Durations are in milliseconds. */
export const TOAST_DURATION = 6000
export const COPIED_DURATION = 2000
export const SEARCH_DELAY = 300
/** The palette answers while a person types. */
export const FIND_DELAY = 100
export const AUTOCOMPLETE_CLOSE_DELAY = 150
export const TOOLTIP_DELAY = 250
/** For the way of the pointer from the trigger to the words. */
export const TOOLTIP_PATIENCE = 100
export const STREAM_RECONNECT_DELAY = 1000
/** The server sends a comment every 15 s: a stream that is silent for longer has died on the way. */
export const STREAM_SILENCE_LIMIT = 45_000
export const STREAM_MESSAGE_LIMIT = 4_000_000
export const REQUEST_TIMEOUT = 10_000
/** Longer than a start of the server takes: an edge that was only away for a moment makes no banner. */
export const EDGE_ABSENCE_SHOWN = 6000
/** The stream of a node that was lost is not opened again; its figures are then asked for this often. */
export const LOST_STREAM_POLL = 15_000
export const CLOCK_INTERVAL = 1000
export const TERMINAL_STEP = 2000
/** After this the first page has been drawn. */
export const PRELOAD_DELAY = 1000
