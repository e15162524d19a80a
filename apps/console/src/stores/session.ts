import { createSessionCookies } from './session-cookies.ts'

const REDIRECT_KEY = 'redirect'
const SECOND_HALF = 'session-key'
const ENDED_KEY = 'session-ended'
const USER_KEY = 'username'
const HOME = '/'
const LOGIN = '/login'
const INVITE = '/invite'

/** The parts of the browser that a session needs; tests replace them. */
export interface SessionHost {
  cookies: { cookie: string }
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
  location: { protocol: string; pathname: string; search: string; hash: string }
  now: () => number
  /** A new secret, as text. */
  makeKey: () => string
}

export type Session = ReturnType<typeof createSession>

/** Only a path of the console: no other origin, and no page before it. */
export function isConsolePath(path: string): boolean {
  if (!/^\/(?![/\\])/.test(path)) return false
  const url = URL.parse(path, 'http://console.invalid')
  return url?.origin === 'http://console.invalid' && ![LOGIN, INVITE].includes(url.pathname)
}

export function createSession(host: SessionHost) {
  const listeners = new Set<(isWanted: boolean) => void>()
  let isOver = false
  const cookies = createSessionCookies(host)

  /**
   * The second half of the session's credential: cookies are shared with every port of this host, but this storage is
   * not. Null in a browser that has never used the form.
   */
  const key = (): string | null => host.storage.getItem(SECOND_HALF)

  /** A session starts with a key, so this comes before the sign-in. */
  const ensureKey = (): void => {
    if (key() === null) host.storage.setItem(SECOND_HALF, host.makeKey())
  }

  /** @param expiresIn seconds. */
  const begin = (value: string, expiresIn: number, username: string): void => {
    host.storage.setItem(USER_KEY, username)
    cookies.keep(value, host.now() + expiresIn * 1000)
  }

  /** Remembers where the person wanted to go, to open it after the next sign-in. */
  const remember = (path: string): void => {
    host.storage.setItem(REDIRECT_KEY, isConsolePath(path) ? path : HOME)
  }

  /** The remembered path; reading it resets it. */
  const takeRedirect = (): string => {
    const path = host.storage.getItem(REDIRECT_KEY) ?? HOME
    host.storage.setItem(REDIRECT_KEY, HOME)
    return isConsolePath(path) ? path : HOME
  }

  /** Whether this browser's last session belonged to another person. */
  const wasSomeoneElse = (username: string): boolean => {
    const last = host.storage.getItem(USER_KEY)
    return last !== null && last !== username
  }

  /** Whether the last session ended by itself; true only once. */
  const takeEnded = (): boolean => {
    const isEnded = host.storage.getItem(ENDED_KEY) !== null
    host.storage.removeItem(ENDED_KEY)
    return isEnded
  }

  /**
   * Removes the token and the key, stores the current path for the next sign-in and notifies the listeners. Does
   * nothing without a session.
   * @param isWanted the person signed out and needs no notice
   */
  const end = (isWanted: boolean): void => {
    const wasOurs = cookies.drop()
    // Several refusals may come at once, the later ones while the sign-in page is on its way.
    if (isOver || host.location.pathname === LOGIN) return
    isOver = true
    if (!isWanted && wasOurs) host.storage.setItem(ENDED_KEY, 'true')
    if (key() !== null) host.storage.setItem(SECOND_HALF, host.makeKey())
    const { pathname, search, hash } = host.location
    remember(pathname + search + hash)
    for (const listener of listeners) listener(isWanted)
  }

  const onEnd = (listener: (isWanted: boolean) => void): (() => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  const { token, accept } = cookies
  return {
    token,
    accept,
    key,
    ensureKey,
    begin,
    wasSomeoneElse,
    takeEnded,
    end,
    remember,
    takeRedirect,
    onEnd,
  }
}
