import { expect, test } from 'vitest'
import { readEnvironment } from '../config.ts'
import { parseFingerprint } from '../daemon/trust.ts'
import { AgentError } from '../errors.ts'
import type { Context } from './command.ts'
import { parseConnectOptions, parseServerUrl, readToken } from './connect-options.ts'

test('the address of the server', () => {
  expect(parseServerUrl('https://Edge.Example:8443/').origin).toBe('https://edge.example:8443')
  expect(parseServerUrl('edge.example').origin).toBe('https://edge.example')
  expect(parseServerUrl('http://127.0.0.1:3000').origin).toBe('http://127.0.0.1:3000')
  for (const bad of [
    'http://edge.example',
    'https://a@b',
    'https://a/b',
    'https://a/?q',
    'ftp://a',
    'https://',
  ])
    expect(() => parseServerUrl(bad), bad).toThrow(AgentError)
})

test('fingerprints as people paste them', () => {
  const plain = `sha256:${'0a'.repeat(32)}`
  expect(parseFingerprint(plain)).toBe(plain)
  expect(parseFingerprint(`SHA256:${'0A:'.repeat(31)}0A`)).toBe(plain)
  expect(() => parseFingerprint('sha256:0a')).toThrow(AgentError)
  expect(() => parseFingerprint(`sha1:${'0a'.repeat(32)}`)).toThrow(AgentError)
})

test("the token can come through standard input, as in the console's command", async () => {
  const io = { readInput: async () => 'ptn_x\n' }
  // Only the environment and the input are read.
  const context = { environment: {}, io } as unknown as Context
  const { token } = parseConnectOptions({ token: '-' }, context)
  expect(token).toEqual({ kind: 'input' })
  expect(await readToken(context, token, undefined)).toBe('ptn_x')
})

test('a token is one word, so it cannot start another header', () => {
  // Only the environment is read.
  const context = { environment: {} } as Context
  const parse = (token: string) => parseConnectOptions({ token }, context).token
  expect(parse(' ptn_x\n')).toEqual({ kind: 'text', text: 'ptn_x' })
  for (const bad of ['a b', 'a\r\nHost: b', 'ü', 'x'.repeat(513)])
    expect(() => parse(bad), bad).toThrow('That is not a token')
})

test('the environment supplies what the command line does not', () => {
  const parse = (values: Record<string, string>, variables: Record<string, string>) =>
    // Only the environment is read.
    parseConnectOptions(values, { environment: readEnvironment(variables) } as Context)
  const fingerprint = `sha256:${'0a'.repeat(32)}`
  const named = { POSTERN_URL: 'edge.example', POSTERN_TOKEN: 'ptn_x', POSTERN_FINGERPRINT: fingerprint }
  expect(parse({}, named)).toMatchObject({ token: { kind: 'text', text: 'ptn_x' }, fingerprint })
  expect(parse({ 'ca-file': '/ca', 'token-file': '/t' }, named)).toMatchObject({
    url: new URL('https://edge.example'),
    token: { kind: 'file', path: '/t' },
    fingerprint: undefined,
    caFile: '/ca',
  })
  expect(() => parse({}, { ...named, POSTERN_CA_FILE: '/ca' })).toThrow('POSTERN_CA_FILE')
  expect(parse({}, { WIREDOOR_URL: 'https://old.example', TOKEN: 'ptn_y' })).toMatchObject({
    url: new URL('https://old.example'),
    token: { kind: 'text', text: 'ptn_y' },
  })
  // Many programs have a TOKEN of their own.
  expect(parse({}, { TOKEN: 'ptn_y' }).token).toBeUndefined()
})
