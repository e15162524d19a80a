import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { compileExpressions, parseBypass } from '@postern/net/bypass'
import { askHttp2 } from '@postern/testkit/http2-wire'
import { shared } from '@postern/testkit/shared'
import { sendRaw, statusesIn } from '@postern/testkit/wire'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeConsoleRoute, makeHaproxyLab, makeLabRoute } from '../../apps/edge/test/haproxy-lab.ts'
import { HOST } from './lab/proxy-lab.ts'
import { type Recorder, startRecorder } from './lab/recorder.ts'
import { BYPASS, CLOSED, OPEN } from './tables/bypass.ts'
import { PATHS } from './tables/forged-headers.ts'

const KEY = { id: 'a', secret: 'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq' }
const OLD = { id: 'old', secret: 'z'.repeat(43) }
const OTHER = 'b.example.com'

let service: Recorder
let open: Recorder
let server: Recorder
let count = 0

const lab = shared(() => makeHaproxyLab({ connectionsPerSource: 4000 }))
beforeAll(async () => {
  service = await startRecorder('service')
  open = await startRecorder('open')
  server = await startRecorder('server', lab.serverSocket)
  lab.signInKeys = [KEY]
  lab.signIns = [
    { id: 1, domain: HOST, members: [7] },
    { id: 2, domain: OTHER, members: [8] },
  ]
  const problems = await lab.apply([
    makeConsoleRoute(),
    makeLabRoute(2, service.port, { domain: HOST, signIn: parseBypass(BYPASS).bypass }),
    makeLabRoute(3, service.port, { domain: OTHER, signIn: parseBypass('^/').bypass }),
    makeLabRoute(4, open.port, { domain: HOST, path: '/free' }),
  ])
  expect(problems).toEqual([])
})
afterAll(async () => {
  for (const each of [service, open, server]) await each.close()
})

/**
 * Sends one request.
 * @returns what the service got, if anything
 */
async function send(target: string, lines: string[] = []) {
  const id = String(++count)
  const head = [`GET ${target} HTTP/1.1`, `Host: ${HOST}`, `X-Attack: ${id}`, 'Connection: close', ...lines]
  const [status] = statusesIn(await sendRaw(lab.httpsPort, `${head.join('\r\n')}\r\n\r\n`))
  return { status, got: gotBy(id) }
}

const gotBy = (id: string) =>
  [...service.requests, ...open.requests].find(({ headers }) =>
    headers.some(([name, value]) => name === 'x-attack' && value === id),
  )

describe.concurrent('paths without sign-in', () => {
  test.each(OPEN)('%j is open', async (target) => {
    expect(await send(target)).toMatchObject({ status: 200, got: { target } })
  })

  test.each(CLOSED)('%j is not', async (target) => {
    const { status, got } = await send(target)
    expect(got).toBeUndefined()
    expect([400, 401]).toContain(status)
  })

  test.each(CLOSED)('%j is not over HTTP/2', async (target) => {
    const id = String(++count)
    const fields: [string, string][] = [
      [':method', 'GET'],
      [':scheme', 'https'],
      [':authority', HOST],
      [':path', target],
      ['x-attack', id],
    ]
    expect([400, 401, 'reset']).toContain(await askHttp2(lab.httpsPort, fields))
    expect(gotBy(id)).toBeUndefined()
  })

  test.each(PATHS)('no program is made to read an open path as another one by %s', async (name) => {
    for (const [target, open] of [
      ['/share/admin', '/share'],
      ['/free/admin', '/free'],
    ] as const) {
      const { got } = await send(target, [`${name}: ${open}`])
      expect(got?.target).toBe(target)
      expect(got?.headers.map(([, value]) => value)).not.toContain(open)
    }
  })

  test.each(['http://HOST/admin', 'https://HOST/share/../admin', 'https://b.example.com/x', '*', 'share/x'])(
    'the target %j is not',
    async (target) => {
      const { got } = await send(target.replace('HOST', HOST))
      expect(got).toBeUndefined()
    },
  )
})

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const inHours = (hours: number) => Math.floor(Date.now() / 1000 + hours * 3600)
const claims = (changes: object = {}) => ({
  member: '7',
  email: 'ann@example.com',
  exp: inHours(12),
  ...changes,
})
function seal(
  payload: object,
  header: object = { alg: 'HS256', kid: KEY.id },
  secret = KEY.secret,
  hash = 'sha256',
) {
  const text = `${part(header)}.${part(payload)}`
  return `${text}.${createHmac(hash, secret).update(text).digest('base64url')}`
}
const good = () => seal(claims())
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
function signRsa(header: object) {
  const text = `${part(header)}.${part(claims())}`
  return `${text}.${sign('sha256', Buffer.from(text), rsa.privateKey).toString('base64url')}`
}
const [head = '', body = '', mark = ''] = good().split('.')

/** Sessions that were not issued to this visitor here. */
const SESSIONS: [string, string][] = [
  ['nothing', ''],
  ['no session at all', 'x'],
  ['dots', '..'],
  ['sealed by another secret', seal(claims(), undefined, 'b'.repeat(43))],
  ['sealed by the id of its key', seal(claims(), { alg: 'HS256', kid: 'a' }, 'a')],
  ['sealed by the name of its key', seal(claims(), { alg: 'HS256', kid: 'zz' }, 'zz')],
  ['sealed by nothing', seal(claims(), { alg: 'HS256', kid: 'zz' }, '')],
  ['sealed by a domain of the map', seal(claims(), { alg: 'HS256', kid: '7' }, HOST)],
  ['sealed by a key that is gone', seal(claims(), { alg: 'HS256', kid: OLD.id }, OLD.secret)],
  ['without the name of a key', seal(claims(), { alg: 'HS256' })],
  ['with a name that is a list', seal(claims(), { alg: 'HS256', kid: ['a'] })],
  ['of alg none', `${part({ alg: 'none', kid: 'a' })}.${body}.`],
  ['of alg none with a seal', `${part({ alg: 'none', kid: 'a' })}.${body}.${mark}`],
  ['of alg NONE without its third part', `${part({ alg: 'NONE' })}.${body}`],
  ['of HS512', seal(claims(), { alg: 'HS512', kid: 'a' }, KEY.secret, 'sha512')],
  ['of RS256', signRsa({ alg: 'RS256', kid: 'a' })],
  ['of RS256 with a key of its own', signRsa({ alg: 'RS256', jwk: rsa.publicKey.export({ format: 'jwk' }) })],
  ['of RS256 with an address of keys', signRsa({ alg: 'RS256', jku: 'https://evil.example/keys' })],
  ['truncated', good().slice(0, -1)],
  ['without a seal', `${head}.${body}`],
  ['with an empty seal', `${head}.${body}.`],
  ['with half a seal', `${head}.${body}.${mark.slice(0, 20)}`],
  ['with other claims', `${head}.${part(claims({ email: 'root@example.com' }))}.${mark}`],
  ['with another header', `${part({ alg: 'HS256', kid: 'a', typ: 'JWT' })}.${body}.${mark}`],
  [
    'sealed rightly, under a header that the server does not write',
    seal(claims(), { kid: KEY.id, alg: 'HS256' }),
  ],
  ['expired', seal(claims({ exp: inHours(-0.01) }))],
  ['that ends now', seal(claims({ exp: inHours(0) }))],
  ['that never ends', seal({ ...claims(), exp: undefined })],
  ['that ends in ten years', seal(claims({ exp: inHours(87_600) }))],
  ['that ends beyond all numbers', seal(claims({ exp: 1e30 }))],
  ['that ends at a word', seal(claims({ exp: 'tomorrow' }))],
  ['that ends at a list', seal(claims({ exp: [inHours(1)] }))],
  ['of the other domain', seal(claims({ member: '8' }))],
  ['of an entry that is gone', seal(claims({ member: '6' }))],
  ['of no entry', seal({ ...claims(), member: undefined })],
  ['of an empty entry', seal(claims({ member: '' }))],
  ['of an entry that means open', seal(claims({ member: '-' }))],
  ['of an entry that is a list', seal(claims({ member: ['7'] }))],
  ['of 8 kB', `${good()}${'A'.repeat(8000)}`],
  ['of 8 kB of claims, rightly sealed', seal(claims({ more: 'x'.repeat(8000) }))],
  ['of 20,000 dots', '.'.repeat(20_000)],
  ['with blanks', ` ${head} . ${body} . ${mark}`],
  ['in quotes', `"${good()}"`],
]

describe.concurrent('sessions', () => {
  test('a valid session is accepted', async () => {
    expect((await send('/', [`Cookie: __Host-postern=${good()}`])).got).toBeDefined()
  })

  test.each(SESSIONS)('%s are refused', async (_, session) => {
    const { status, got } = await send('/', [`Cookie: __Host-postern=${session}`])
    expect(got).toBeUndefined()
    expect([400, 401]).toContain(status)
  })

  test.each([
    ['in another cookie', () => [`Cookie: __Host-postern-x=${good()}`]],
    ['in a cookie with another prefix', () => [`Cookie: postern=${good()}; __Secure-postern=${good()}`]],
    ['in the query', () => ['X: y']],
    ['in a header', () => [`Authorization: Bearer ${good()}`]],
    [
      'in a header of the proxy',
      () => ['X-Auth-Request-Email: ann@example.com', 'Remote-User: ann@example.com'],
    ],
  ])('a session %s counts for nothing', async (_, lines) => {
    expect(await send(`/?__Host-postern=${good()}`, lines())).toMatchObject({ status: 401, got: undefined })
  })

  test('whatever accompanies them, a service never sees the cookies', async () => {
    for (const name of ['__Host-postern', '__Host-Postern-x', '__host-postern']) {
      const lines = [`Cookie: a=1; ${name}=x; b=2`, `Cookie: ${name}=y`, `Cookie: __Host-postern=${good()}`]
      for (const target of ['/public', '/free']) {
        const { got } = await send(target, lines)
        expect(got?.head).not.toMatch(/__Host-postern/i)
        expect(got?.head).toContain('a=1; b=2')
      }
    }
  })

  test.each([
    'X-Auth-Request-Email',
    'Remote-Email',
    'Remote-User',
    'X_Auth_Request_Email',
    'remote_user',
    'Remote.User',
    'X-WebAuth-User',
    'X-Postern-Identity',
    'X_Postern_Identity',
    'x-postern.identity',
  ])('what a visitor sends as %s never arrives', async (name) => {
    const cookie = `Cookie: __Host-postern=${good()}`
    for (const [target, lines] of [
      ['/public', []],
      ['/free', []],
      ['/', [cookie]],
    ] as [string, string[]][]) {
      const { got } = await send(target, [...lines, `${name}: root@evil.example`])
      expect(got?.head).not.toContain('evil')
    }
  })
})

/** Every alternative begins at the start of the path. */
const readElsewhere = (line: string) => new RegExp(`^(?:${line.slice(1)})`)

test('expressions match the same as elsewhere', async () => {
  const letters = fc.constantFrom('a', 'b', '1', '/', '-')
  const atom = fc.oneof(letters, fc.constantFrom('.', '[ab]', '[^a/]', '[0-9b]', '[-a]'))
  const quantity = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,3}', '{0,2}', '{1,}')
  const atoms = (maxLength: number) =>
    fc
      .array(
        fc.tuple(atom, quantity).map((both) => both.join('')),
        { minLength: 1, maxLength },
      )
      .map((all) => all.join(''))
  const group = fc
    .tuple(fc.array(atoms(2), { minLength: 1, maxLength: 3 }), fc.constantFrom('', '', '?'))
    .map(([alternatives, sign]) => `(${alternatives.join('|')})${sign}`)
  const alternative = fc
    .tuple(
      fc.constantFrom('/', '/', '/', '^/', ''),
      fc.array(fc.oneof({ weight: 3, arbitrary: atoms(2) }, group), { minLength: 1, maxLength: 3 }),
      fc.constantFrom('', '$'),
    )
    .map((all) => all.flat().join(''))
  const expression = fc
    .tuple(fc.array(atoms(6), { maxLength: 1 }), fc.array(alternative, { maxLength: 2 }))
    .map(([first, others]) => ['/'.concat(...first), ...others].join('|'))
    .map((text) => `^${text}`)
    .filter((text) => compileExpressions(text) !== undefined)
  const path = fc
    .array(fc.constantFrom('a', 'b', '1', '-', 'a/', 'b/'), { maxLength: 6 })
    .map((all) => `/${all.join('')}`)
  const samples = fc.sample(fc.tuple(expression, fc.array(path, { minLength: 4, maxLength: 4 })), 150)
  const domainOf = (index: number) => `e${index}.example.com`
  const routes = samples.map(([text], index) =>
    makeLabRoute(100 + index, open.port, {
      domain: domainOf(index),
      signIn: { paths: [], expressions: compileExpressions(text) ?? [] },
    }),
  )
  expect(await lab.apply([makeConsoleRoute(), ...routes])).toEqual([])
  for (const [index, [text, paths]] of samples.entries())
    for (const each of paths) {
      const head = `GET ${each} HTTP/1.1\r\nHost: ${domainOf(index)}\r\nX-Attack: 0\r\nConnection: close\r\n\r\n`
      const status = statusesIn(await sendRaw(lab.httpsPort, head))[0]
      expect([text, each, status]).toEqual([text, each, readElsewhere(text).test(each) ? 200 : 401])
    }
}, 120_000)
