/**
 * What the value of each kind of credential begins with. A session is recognised by it, and not by the name of its
 * cookie or parameter: applications have cookies and parameters called `token` too, which pass untouched.
 */
export const TOKEN_PREFIXES = {
  /** A console user's session. */
  session: 'pts_',
  /** Opens the streams of one session for a moment, and nothing else. */
  ticket: 'ptt_',
  /** The secret part of a link for a person who was invited. */
  invite: 'pti_',
  /** An access token of a node. */
  node: 'ptn_',
  /** Lets one machine join as an edge, once. */
  join: 'pte_',
  /** A program's token, with rights of the person who made it. */
  api: 'pta_',
} as const

/** The cookie of the console's session. */
export const SESSION_COOKIE = 'token'
/**
 * Over http, the console keeps its session here while `SESSION_COOKIE` holds another one from https at the same host.
 * The server does not read it.
 */
export const HTTP_SESSION_COOKIE = 'token-http'
