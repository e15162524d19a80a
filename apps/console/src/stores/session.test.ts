import { beforeEach, expect, test, vi } from 'vitest'
import { makeCookieJar } from '../../test/cookie-jar.ts'
import { createSession, isConsolePath, type SessionHost } from './session.ts'

let jar: ReturnType<typeof makeCookieJar>
let stored: Map<string, string>
let keys: number

function hostAt(pathname: string, protocol = 'https:'): SessionHost {
  return {
    cookies: jar.at(protocol),
    storage: {
      getItem: (key) => stored.get(key) ?? null,
      setItem: (key, value) => stored.set(key, value),
      removeItem: (key) => stored.delete(key),
    },
    location: { protocol, pathname, search: '?page=2', hash: '#row-3' },
    now: () => Date.UTC(2026, 10, 21),
    makeKey: () => `key ${++keys}`,
  }
}

beforeEach(() => {
  jar = makeCookieJar()
  stored = new Map()
  keys = 0
})

test('the token is kept in a strict cookie until it expires', () => {
  const session = createSession(hostAt('/login'))
  session.begin('a b;c', 3600, 'admin')
  expect(jar.written).toEqual([
    'token=a%20b%3Bc; expires=Sat, 21 Nov 2026 01:00:00 GMT; path=/; SameSite=Strict; Secure',
  ])
  expect(session.token()).toBe('a b;c')
})

test('over http the cookie is not Secure, because the browser would drop it', () => {
  createSession(hostAt('/login', 'http:')).begin('t', 1, 'admin')
  expect(jar.written[0]).not.toContain('Secure')
})

test('the end removes the token, remembers the page with its query and place and notifies listeners', () => {
  const session = createSession(hostAt('/nodes'))
  const onEnd = vi.fn()
  session.begin('t', 60, 'admin')
  session.onEnd(onEnd)
  session.end(false)
  expect(session.token()).toBeNull()
  expect(onEnd).toHaveBeenCalledOnce()
  expect(session.takeRedirect()).toBe('/nodes?page=2#row-3')
})

test('several refusals at once end it once', () => {
  const session = createSession(hostAt('/nodes'))
  const onEnd = vi.fn()
  session.onEnd(onEnd)
  session.ensureKey()
  session.end(false)
  session.end(false)
  expect(onEnd).toHaveBeenCalledOnce()
  expect(session.key()).toBe('key 2')
})

test('a late refusal on the sign-in page does not overwrite the remembered path', () => {
  stored.set('redirect', '/nodes/7')
  const session = createSession(hostAt('/login'))
  session.end(false)
  expect(session.takeRedirect()).toBe('/nodes/7')
})

test('the key is made before the first sign-in, stays for the next, and is replaced after the end', () => {
  const session = createSession(hostAt('/nodes'))
  expect(session.key()).toBeNull()
  session.ensureKey()
  session.ensureKey()
  expect(session.key()).toBe('key 1')
  session.end(false)
  expect(session.key()).toBe('key 2')
})

test('the remembered page is opened once', () => {
  const session = createSession(hostAt('/login'))
  session.remember('/domains')
  expect([session.takeRedirect(), session.takeRedirect()]).toEqual(['/domains', '/'])
})

test.each([
  'https://evil.example',
  '//evil.example',
  '/\\evil.example',
  'javascript:alert(1)',
  '',
  'nodes',
  '/login?x=1',
])('%s is never a place to go after sign-in', (path) => {
  expect(isConsolePath(path)).toBe(false)
  stored.set('redirect', path)
  expect(createSession(hostAt('/login')).takeRedirect()).toBe('/')
})

test.each(['/', '/nodes?page=2', '/domains/a.example/logs'])('%s is', (path) => {
  expect(isConsolePath(path)).toBe(true)
})
