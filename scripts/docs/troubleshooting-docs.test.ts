import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CertificateProblemCode } from '@postern/contract/certificates'
import { BackendTrouble } from '@postern/contract/edge/edge'
import { ErrorCode } from '@postern/contract/errors'
import { BYPASS_MESSAGES, MESSAGES } from '@postern/contract/messages'
import { ServiceState } from '@postern/contract/services/services'
import { WHY_STEPS, WHY_TITLES } from '@postern/contract/why/why'
import { TARGET_FAULTS } from '@postern/net/targets'
import { pageNames } from '@postern/render/haproxy/pages'
import { describe, expect, it, test } from 'vitest'
import { EXIT_CODES } from '../../apps/agent/src/errors.ts'
import { renderDocsPage } from '../../apps/server/docs/render.ts'
import { slugOf } from '../../apps/server/docs/sections.ts'
import { renderEdgeInstaller } from '../../apps/server/src/core/edges/program/installer.ts'
import { renderInstaller } from '../../apps/server/src/core/nodes/installer.ts'
import { REASONS } from '../../packages/contract/src/requests/reasons.ts'
import { collectErrors, collectSentences } from '../lib/sentences.ts'

/**
 * Each message that a person may see is explained in docs/troubleshooting.md, at an anchor made from its key or,
 * without one, from its first words. A new or changed message fails here until it is explained.
 */
const ROOT = join(import.meta.dirname, '../..')
const { sections } = renderDocsPage(
  readFileSync(join(ROOT, 'docs/troubleshooting.md'), 'utf8'),
  (path) => path,
)
const entries = new Map(sections.filter(({ depth }) => depth === 0).map((entry) => [entry.id, entry]))
const none = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, null]))

/** Prefix of the anchor → key → the message, or null where the page has other words. */
const KEYED: Record<string, Readonly<Record<string, string | null>>> = {
  field: MESSAGES,
  bypass: BYPASS_MESSAGES,
  target: TARGET_FAULTS,
  exit: Object.fromEntries(
    Object.entries(EXIT_CODES).map(([key, [code, words]]) => [key, `${code}: ${words}`]),
  ),
  error: Object.fromEntries(ErrorCode.options.map((code) => [code, code])),
  log: Object.fromEntries(Object.values(REASONS).map((words) => [addressOf(words), words])),
  service: none(ServiceState.shape.phase.options),
  // `unchecked` is a phase of the service, not a fault.
  backend: none(BackendTrouble.options.filter((trouble) => trouble !== 'unchecked')),
  certificate: none(CertificateProblemCode.options),
  page: none(pageNames),
}

describe.each(Object.entries(KEYED))('%s', (prefix, messages) => {
  it.each(Object.entries(messages))('%s is explained', (key, words) => {
    const entry = entries.get(`${prefix}-${kebab(key)}`)
    expect(entry?.text).toMatch(/\w/)
    if (words !== null) expect(entry?.title).toBe(words)
  })

  it('explains nothing that no program says any more', () => {
    const known = new Set(Object.keys(messages).map((key) => `${prefix}-${kebab(key)}`))
    const old = [...entries.keys()].filter((id) => id.startsWith(`${prefix}-`) && !known.has(id))
    expect(old).toEqual([])
  })
})

/** Folders whose sentences are for people. */
const SENTENCE_FOLDERS = [
  'apps/edge/src',
  'apps/agent/src',
  'packages/contract/src',
  'packages/host/src',
  'packages/render/src/wireguard',
  'packages/render/src/haproxy/maps',
  'apps/server/src',
]

/** The steps of *Why?* say by themselves what was seen and what to do; docs/why.md tells of the steps. */
const OF_WHY = ['apps/server/src/core/why', 'apps/edge/src/trace', 'packages/contract/src/why']

/**
 * Sentences that are not messages: parts of commands and files, and what only developers or the programs' own logs
 * see.
 */
const NOT_SHOWN = [
  /^[A-Z]+ /,
  /^(Usage|Description=|Post(Up|Down) =)/,
  // The subjects of e-mails.
  /^(New password for|Invitation to) Postern at …$/,
  // What follows it has its own entry.
  /^Line … …$/,
  /^(Configuring postern|Connecting node|Connection established)/,
  /^(Deleted|Enabled|Disabled|Signed in to|The token is in|The token for|The port of the program|Press Ctrl-C to)( |$)/,
  /^… is not shared any more$/,
  // What joining and leaving say when they have gone well.
  /^(This machine is (now the|no) edge|Start it:) /,
  /is not reserved: add it to/,
  /^(There is no whole state|A line is not as it was written|Some of it does not match the contract)/,
  /^(WireGuard in the kernel|Making the tunnel|The name server of the gateway|Address already in use)/,
  /^(The certificate …|Postern (Root|Edges) …|Sign in as … with the password …|Its window for a renewal is none)$/,
]

/** What docs/alerts.md explains: what alerts say, and why a message did not arrive. */
const OF_ALERTS = ['apps/server/src/core/alerts', 'packages/contract/src/alerts']

/** What metrics are, and what the steps of Why? say: docs/monitoring.md and docs/why.md explain them. */
const EXPLAINED = ['apps/server/src/core/metrics', ...OF_WHY, ...OF_ALERTS]

test('every sentence that a program says is explained', () => {
  const explained = collectSentences(ROOT, EXPLAINED)
  const said = [...collectSentences(ROOT, SENTENCE_FOLDERS)].filter(
    (text) => !explained.has(text) && !NOT_SHOWN.some((kind) => kind.test(text)),
  )
  expect(said.length).toBeGreaterThan(150)
  const titles = new Set([...entries.values()].map(({ title }) => withoutDot(title)))
  expect(said.filter((text) => !titles.has(withoutDot(text)))).toEqual([])
})

test('each step of Why? has its place', () => {
  const guide = readFileSync(join(ROOT, 'docs/why.md'), 'utf8')
  for (const step of WHY_STEPS) expect(guide).toContain(`<a id="${step}"></a>${WHY_TITLES[step]} |`)
})

/** Errors that end a program, or a request of the command. */
const ERRORS = [
  'AgentError',
  'BrokenReferencesError',
  'CommandError',
  'DatabaseError',
  'DatabaseTooNewError',
  'EdgeTokenError',
  'ListenError',
  'SecretsError',
  'SettingsError',
  'UsageError',
]

test('every error that ends a program is explained', () => {
  const folders = ['packages/contract/src', 'scripts', 'apps/server/src', 'apps/agent/src', 'apps/edge/src']
  const said = [...collectErrors(ROOT, folders, ERRORS)].map((text) => text.split('\n')[0] ?? '')
  expect(said.length).toBeGreaterThan(60)
  const titles = new Set([...entries.values()].map(({ title }) => withoutDot(title)))
  expect(said.filter((text) => !titles.has(withoutDot(text)))).toEqual([])
})

test('what the install lines say is explained', () => {
  const own = 'https://postern.example.com'
  const scripts = [
    renderInstaller(own, { bundle: '', x64: '', arm64: '' }),
    renderEdgeInstaller(own, '', 'x64'),
  ]
  const said = [...scripts.join('\n').matchAll(/\bfail "(.+)"$/gm)].map(([, text = '']) =>
    text.replace(/\$\([^)]*\)|\$\w+/g, '…'),
  )
  expect(said.length).toBeGreaterThan(12)
  const titles = new Set([...entries.values()].map(({ title }) => title))
  expect(said.filter((text) => !titles.has(text))).toEqual([])
})

test('each anchor is made from its message', () => {
  const prefixes = Object.keys(KEYED).map((prefix) => `${prefix}-`)
  const own = [...entries.values()].filter(({ id }) => !prefixes.some((prefix) => id.startsWith(prefix)))
  for (const { id, title } of own) expect(id).toBe(addressOf(title))
})

/** Some messages appear with and without a full stop. */
const withoutDot = (text: string) => text.replace(/\.$/, '')

function kebab(key: string): string {
  return key
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase()
}

/** The first words of a message, as in an anchor. */
function addressOf(message: string): string {
  return slugOf(message.replaceAll('…', ' ')).split('-').slice(0, 9).join('-')
}
