import { HTTP_SESSION_COOKIE, SESSION_COOKIE, TOKEN_PREFIXES } from '@postern/contract/tokens'

const MARK = 'session-mark'
/** How long a displaced session's cookie is kept, in ms: the server ends every session before that. */
const KEPT = 30 * 24 * 3600 * 1000

/** The parts of the browser that the cookies need. */
export interface CookieHost {
  cookies: { cookie: string }
  storage: Pick<Storage, 'getItem' | 'setItem'>
  location: { protocol: string }
  now: () => number
}

/** Enough of a token to recognise it. */
const markOf = (token: string) => token.slice(-8)

/** A value that cannot be decoded is not ours. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * The cookies of the console's sessions. The console may be open at the same host over https and http, which share
 * cookies but not storage. So each stores a mark of its own session, and uses and removes no other. If both have one,
 * that of https is in `token` and that of http in `token-http`.
 */
export function createSessionCookies(host: CookieHost) {
  const isHttps = host.location.protocol === 'https:'

  const write = (name: string, value: string, expires: number, isSecure = isHttps) => {
    const attributes = `expires=${new Date(expires).toUTCString()}; path=/; SameSite=Strict`
    host.cookies.cookie = `${name}=${encodeURIComponent(value)}; ${attributes}${isSecure ? '; Secure' : ''}`
  }

  /** Null if no session was ever known, empty if there is none now. */
  const mark = (): string | null => host.storage.getItem(MARK)

  /** Other programs on the host may set cookies with these names for some of its paths: ours is preferred. */
  const read = (name: string): string | null => {
    const pairs = host.cookies.cookie.split('; ').filter((part) => part.startsWith(`${name}=`))
    const values = pairs.map((pair) => decode(pair.slice(name.length + 1))).filter((value) => value !== '')
    return values.find((value) => markOf(value) === mark()) ?? values[0] ?? null
  }

  const isOthers = (value: string) => value.startsWith(TOKEN_PREFIXES.session) && markOf(value) !== mark()

  /** If no session was ever known, a client may have set the cookie itself. */
  const token = (): string | null => {
    const first = read(SESSION_COOKIE)
    if (mark() === null) return first
    return [first, read(HTTP_SESSION_COOKIE)].find((value) => value && markOf(value) === mark()) ?? null
  }

  /** The server accepted the token, so it belongs to this origin, whoever set it. */
  const accept = (): void => {
    const value = token()
    if (value !== null && mark() === null) host.storage.setItem(MARK, markOf(value))
  }

  /** @param expires ms since the epoch. */
  const keep = (value: string, expires: number): void => {
    const found = read(SESSION_COOKIE)
    const others = found !== null && isOthers(found) ? found : null
    host.storage.setItem(MARK, markOf(value))
    if (isHttps) {
      if (others !== null && read(HTTP_SESSION_COOKIE) === null)
        write(HTTP_SESSION_COOKIE, others, host.now() + KEPT, false)
      write(SESSION_COOKIE, value, expires)
      return
    }
    write(HTTP_SESSION_COOKIE, '', 0)
    if (others === null) write(SESSION_COOKIE, value, expires)
    // Browsers protect a cookie from https, and may not even show it here.
    if (read(SESSION_COOKIE) !== value) write(HTTP_SESSION_COOKIE, value, expires)
  }

  /** @returns whether there was a session of this origin. */
  const drop = (): boolean => {
    const wasOurs = mark() !== null
    for (const name of [SESSION_COOKIE, HTTP_SESSION_COOKIE]) {
      const value = read(name)
      if (value !== null && !isOthers(value)) write(name, '', 0)
    }
    host.storage.setItem(MARK, '')
    return wasOurs
  }

  return { token, accept, keep, drop }
}
