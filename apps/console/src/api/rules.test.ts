import type { Role } from '@postern/contract/sign-in/auth'
import { expect, test } from 'vitest'
import { canNameHost, type Rules, rulesFor } from './rules.ts'

const plain = { isLocal: false, isGateway: false }
const gateway = { isLocal: false, isGateway: true }
const local = { isLocal: true, isGateway: false }

const own = { system: false, source: null }
const published = { system: false, source: 'docker' }
const ourConsole = { system: true, source: null }

const failed = { ssl: 'certbot' as const, certificate: { nextTryAt: '2027-01-01T00:00:00Z' } }
const ordered = { ssl: 'certbot' as const, certificate: { nextTryAt: null } }
const selfSigned = { ...failed, ssl: 'self-signed' as const }
const guarded = { allowedEmails: ['a@example.com'] }

/** Each rule with all kinds of records, and those for which an administrator may do it. */
const TABLE: [rule: string, ask: (can: Rules) => boolean[], forAdmins: boolean[]][] = [
  ['add a node', ({ node }) => [node.add], [true]],
  ['expose a service', ({ node }) => [node.expose], [true]],
  ['edit a node', ({ node }) => [plain, gateway, local].map(node.edit), [true, true, false]],
  ['download its file', ({ node }) => [plain, gateway, local].map(node.download), [true, true, false]],
  ['connect a node', ({ node }) => [plain, gateway, local].map(node.connect), [true, true, false]],
  ['delete a node', ({ node }) => [plain, gateway, local].map(node.remove), [true, true, false]],
  ['add a token', ({ node }) => [plain, gateway, local].map(node.addToken), [true, true, false]],
  ['revoke a token', ({ token }) => [false, true].map((revoked) => token.revoke({ revoked })), [true, false]],
  ['delete a token', ({ token }) => [token.remove({})], [true]],
  ['edit a service', ({ service }) => [own, published, ourConsole].map(service.edit), [true, false, true]],
  [
    'enable a service',
    ({ service }) => [own, published, ourConsole].map(service.enable),
    [true, true, false],
  ],
  [
    'delete a service',
    ({ service }) => [own, published, ourConsole].map(service.remove),
    [true, true, false],
  ],
  ['add a domain', ({ domain }) => [domain.add], [true]],
  ['edit a domain', ({ domain }) => [domain.edit({})], [true]],
  ['order again', ({ domain }) => [failed, ordered, selfSigned].map(domain.retry), [true, false, false]],
  ['delete a domain', ({ domain }) => [domain.remove({})], [true]],
  [
    'end sessions',
    ({ domain }) => ['a@example.com', 'b@example.com'].map((email) => domain.endSessions(guarded, email)),
    [true, false],
  ],
]

test.each(TABLE)('%s: as the record allows', (_, ask, forAdmins) => {
  expect(ask(rulesFor('admin'))).toEqual(forAdmins)
})

test.each(TABLE)('%s: only in roles that may call the API for it', (_, ask) => {
  // A role that the contract does not have yet.
  const nobody = rulesFor('viewer' as Role)
  expect(ask(nobody)).not.toContain(true)
})

test('gateways and the local node reach other hosts, a plain node only itself', () => {
  expect([plain, gateway, local].map(canNameHost)).toEqual([false, true, true])
})
