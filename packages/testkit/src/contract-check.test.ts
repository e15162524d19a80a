import { expect, test } from 'vitest'
import { checkAnswer, checkEvents } from './contract-check.ts'

const JSON_TYPE = 'application/json; charset=utf-8'
const said = (method: string, url: string, status: number, body: unknown) => () =>
  checkAnswer({ method, url, status, type: JSON_TYPE, text: JSON.stringify(body) })

const account = { id: 1, username: 'admin', role: 'admin', reach: null }

test('an answer that matches the contract passes, for people and for nodes', () => {
  expect(said('GET', '/api/auth/me', 200, account)).not.toThrow()
  const toNode = { VPN_HOST: 'h', TCP_SERVICES_PORT_RANGE: '1-2', version: '1' }
  expect(said('GET', '/api/config', 200, toNode)).not.toThrow()
  expect(said('GET', '/api/nodes/7', 404, { message: 'Node not found', code: 'not_found' })).not.toThrow()
})

test.each([
  ['a missing key', said('GET', '/api/auth/me', 200, { id: 1, username: 'admin' }), 'role'],
  ['an unknown key', said('GET', '/api/auth/me', 200, { ...account, hash: 'x' }), 'does not know'],
  ['an unknown key below', said('GET', '/api/edges', 200, [{ x: 1 }]), 'GET /api/edges'],
  ['another status', said('GET', '/api/auth/me', 201, account), 'status'],
  ['an unknown address', said('GET', '/api/secrets', 200, {}), 'knows nothing'],
  [
    'an unknown code',
    said('GET', '/api/auth/me', 401, { message: 'no', code: 'other' }),
    'not as the contract says',
  ],
  ['no code', said('GET', '/api/auth/me', 401, { message: 'no' }), 'no code'],
])('%s is found', (_, check, words) => {
  expect(check).toThrow(words)
})

test('so are events that the contract does not know', () => {
  const event = (name: string, data: unknown) => [{ event: name, data: JSON.stringify(data), id: '' }]
  const url = '/api/logs/stream?token=x'
  expect(() => checkEvents(url, event('message', ['a line']))).not.toThrow()
  expect(() => checkEvents(url, event('message', [1]))).toThrow('message of /api/logs/stream')
  expect(() => checkEvents(url, event('other', []))).toThrow('other of /api/logs/stream')
})
