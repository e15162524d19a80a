import { beforeEach, expect, test } from 'vitest'
import { makeCookieJar } from '../../test/cookie-jar.ts'
import { createSession, type SessionHost } from './session.ts'
import { createSessionCookies } from './session-cookies.ts'

const [HTTP, HTTPS] = ['pts_of-the-http-way', 'pts_of-the-https-way']
const LATER = 3600

let jar: ReturnType<typeof makeCookieJar>
let stores: Map<string, Map<string, string>>

beforeEach(() => {
  jar = makeCookieJar()
  stores = new Map()
})

/** A page opened in this browser over http or https. */
function openAt(protocol: 'http:' | 'https:') {
  const stored = stores.get(protocol) ?? new Map<string, string>()
  stores.set(protocol, stored)
  const host: SessionHost = {
    cookies: jar.at(protocol),
    storage: {
      getItem: (key) => stored.get(key) ?? null,
      setItem: (key, value) => stored.set(key, value),
      removeItem: (key) => stored.delete(key),
    },
    location: { protocol, pathname: '/nodes', search: '', hash: '' },
    now: () => Date.UTC(2026, 10, 21),
    makeKey: () => 'key',
  }
  return createSession(host)
}

const tokens = () => [openAt('http:').token(), openAt('https:').token()]

/** The server refuses the token, like that of a session with another key. */
function arrive(protocol: 'http:' | 'https:'): void {
  const session = openAt(protocol)
  if (session.token() !== null) session.end(false)
  expect(session.takeEnded()).toBe(false)
}

function signIn(protocol: 'http:' | 'https:'): void {
  arrive(protocol)
  openAt(protocol).begin(protocol === 'http:' ? HTTP : HTTPS, LATER, 'admin')
}

test.each([
  ['http', ['http:', 'https:']],
  ['https', ['https:', 'http:']],
] as const)('with %s first, each protocol has its own session, and ends no other', (_, [first, second]) => {
  signIn(first)
  signIn(second)
  expect(tokens()).toEqual([HTTP, HTTPS])
  openAt(second).end(true)
  expect(tokens()).toEqual(first === 'http:' ? [HTTP, null] : [null, HTTPS])
  signIn(second)
  const refused = openAt(first)
  refused.end(false)
  expect(refused.takeEnded()).toBe(true)
  expect(tokens()).toEqual(first === 'http:' ? [null, HTTPS] : [HTTP, null])
  signIn(first)
  expect(tokens()).toEqual([HTTP, HTTPS])
  openAt('https:').end(true)
  openAt('http:').end(true)
  expect(tokens()).toEqual([null, null])
  expect(jar.names()).toEqual([])
})

test("with one protocol, only the specification's cookie is used", () => {
  signIn('http:')
  expect(jar.names()).toEqual(['token'])
  openAt('http:').end(true)
  signIn('https:')
  expect(jar.names()).toEqual(['token'])
})

test('a session that a client set is ours once the server accepted it, and ends like any other', () => {
  jar.at('http:').cookie = `token=${HTTP}`
  const session = openAt('http:')
  expect(session.token()).toBe(HTTP)
  session.accept()
  session.end(false)
  expect(jar.names()).toEqual([])
  expect(session.takeEnded()).toBe(true)
})

test('a planted session is not used, and an application’s own cookie is replaced at the next sign-in', () => {
  signIn('http:')
  jar.at('http:').cookie = 'token=pts_planted-by-another'
  jar.at('http:').cookie = 'token-http=pts_planted-as-well'
  expect(openAt('http:').token()).toBeNull()
  jar.at('http:').cookie = "token=an-application's"
  signIn('http:')
  expect(openAt('http:').token()).toBe(HTTP)
  expect(jar.names()).toEqual(['token'])
})

test.each(['token', 'token-http'])(
  "another program's cookie %s on this host does not prevent signing in",
  (name) => {
    const browser = jar.at('http:')
    for (const value of ['%', '%E0%A4', 'pts_%', 'theirs']) {
      browser.cookie = `${name}=${value}`
      for (const protocol of ['http:', 'https:'] as const) signIn(protocol)
      expect(tokens()).toEqual([HTTP, HTTPS])
      for (const protocol of ['http:', 'https:'] as const) openAt(protocol).end(true)
    }
  },
)

test('a cookie of the same name for a part of the host does not hide a session', () => {
  signIn('https:')
  // Browsers send those of longer paths first.
  const [own] = jar.at('https:').cookie.split('; ')
  const shadowed = { cookie: `token=theirs; ${own}` }
  const storage = {
    getItem: (key: string) => stores.get('https:')?.get(key) ?? null,
    setItem: () => undefined,
  }
  const location = { protocol: 'https:' }
  expect(createSessionCookies({ cookies: shadowed, storage, location, now: () => 0 }).token()).toBe(HTTPS)
})
