import { expect, test } from 'vitest'
import { canNameHost, type Rules, rulesFor } from './rules.ts'

const plain = { isLocal: false, isGateway: false }
const gateway = { isLocal: false, isGateway: true }
const local = { isLocal: true, isGateway: false }

const own = { system: false, source: null }
const published = { system: false, source: 'docker' }
const ourConsole = { system: true, source: null }

const failed = { id: 1, ssl: 'certbot' as const, certificate: { nextTryAt: '2027-01-01T00:00:00Z' } }
const ordered = { id: 1, ssl: 'certbot' as const, certificate: { nextTryAt: null } }
const selfSigned = { ...failed, ssl: 'self-signed' as const }
const guarded = { id: 1, allowedEmails: ['a@example.com'] }

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
  ['edit a domain', ({ domain }) => [domain.edit({ id: 1 })], [true]],
  ['order again', ({ domain }) => [failed, ordered, selfSigned].map(domain.retry), [true, false, false]],
  ['delete a domain', ({ domain }) => [domain.remove({ id: 1 })], [true]],
  [
    'end sessions',
    ({ domain }) => ['a@example.com', 'b@example.com'].map((email) => domain.endSessions(guarded, email)),
    [true, false],
  ],
]

test.each(TABLE)('%s: as the record allows', (_, ask, forAdmins) => {
  expect(ask(rulesFor({ role: 'admin', reach: null }))).toEqual(forAdmins)
})

test.each(TABLE)('%s: never by a viewer', (_, ask) => {
  expect(ask(rulesFor({ role: 'viewer', reach: null }))).not.toContain(true)
})

test('an editor changes everything but what the installation is', () => {
  const can = rulesFor({ role: 'editor', reach: null })
  expect([own, published, ourConsole].map(can.service.edit)).toEqual([true, false, false])
  expect([can.node.add, can.domain.add, can.settings, can.alerts]).toEqual([true, true, false, true])
})

test('a limited editor adds neither nodes nor domains, and edits the domains that were given to them', () => {
  const can = rulesFor({ role: 'editor', reach: { nodes: [1], domains: [1] } })
  expect([can.node.add, can.domain.add, can.settings, can.alerts]).toEqual([false, false, false, false])
  expect([1, 2].map((id) => can.domain.edit({ id }))).toEqual([true, false])
  expect([1, 2].map((id) => can.domain.retry({ ...failed, id }))).toEqual([true, false])
  expect([can.node.expose, can.service.edit(own), can.node.edit(plain)]).toEqual([true, true, true])
})

test('gateways and the local node reach other hosts, a plain node only itself', () => {
  expect([plain, gateway, local].map(canNameHost)).toEqual([false, true, true])
})
