import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CertificateProblemCode } from '@postern/contract/certificates'
import { BackendTrouble } from '@postern/contract/edge'
import { ErrorCode } from '@postern/contract/errors'
import { BYPASS_MESSAGES, MESSAGES } from '@postern/contract/messages'
import { ServiceState } from '@postern/contract/services'
import { TARGET_FAULTS } from '@postern/net/targets'
import { pageNames } from '@postern/render/haproxy/pages'
import { describe, expect, it, test } from 'vitest'
import { EXIT_CODES } from '../apps/agent/src/errors.ts'
import { REASONS } from '../apps/edge/src/drivers/haproxy/logs/line.ts'
import { renderDocsPage } from '../apps/server/docs/render.ts'
import { slugOf } from '../apps/server/docs/sections.ts'
import { renderInstaller } from '../apps/server/src/core/nodes/installer.ts'
import { collectErrors, collectSentences } from './lib/sentences.ts'

/**
 * Each message that a person meets has its place in docs/troubleshooting.md, at an address that comes from its key, or
 * from its first words where it has none. A message that is new or has changed fails here until it is explained.
 */
const ROOT = join(import.meta.dirname, '..')
const { sections } = renderDocsPage(
  readFileSync(join(ROOT, 'docs/troubleshooting.md'), 'utf8'),
  (path) => path,
)
const entries = new Map(sections.filter(({ depth }) => depth === 0).map((entry) => [entry.id, entry]))
const none = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, null]))

/** Prefix of the address → key → the words, or null where they are told elsewhere. */
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
  // What is unchecked is a phase of the service, and nothing that is wrong.
  backend: none(BackendTrouble.options.filter((trouble) => trouble !== 'unchecked')),
  certificate: none(CertificateProblemCode.options),
  page: none(pageNames),
}

describe.each(Object.entries(KEYED))('%s', (prefix, messages) => {
  it.each(Object.entries(messages))('%s has its place', (key, words) => {
    const entry = entries.get(`${prefix}-${kebab(key)}`)
    expect(entry?.text).toMatch(/\w/)
    if (words !== null) expect(entry?.title).toBe(words)
  })

  it('has no place for what nobody says any more', () => {
    const known = new Set(Object.keys(messages).map((key) => `${prefix}-${kebab(key)}`))
    const old = [...entries.keys()].filter((id) => id.startsWith(`${prefix}-`) && !known.has(id))
    expect(old).toEqual([])
  })
})

/** Where sentences are for people. */
const SPOKEN = [
  'apps/edge/src',
  'apps/agent/src',
  'packages/contract/src',
  'packages/render/src/wireguard',
  'packages/render/src/haproxy/maps',
  'apps/server/src',
]

/** What is no message: parts of commands and files, and what only developers or the programs' own logs see. */
const NOT_SHOWN = [
  /^[A-Z]+ /,
  /^(Usage|Description=|Post(Up|Down) =)/,
  // What stands behind it has its own place.
  /^Line … …$/,
  /^(Configuring postern|Connecting node|Connection established)/,
  /is not reserved: add it to/,
  /^(There is no whole state|A line is not as it was written|Some of it does not match the contract)/,
  /^(WireGuard in the kernel|Making the tunnel|The name server of the gateway|Address already in use)/,
  /^(The certificate …|Postern Root …|Sign in as … with the password …|Its window for a renewal is none)$/,
]

test('every sentence that a program says has its place', () => {
  const said = [...collectSentences(ROOT, SPOKEN)].filter(
    (text) => !NOT_SHOWN.some((kind) => kind.test(text)),
  )
  expect(said.length).toBeGreaterThan(150)
  const titles = new Set([...entries.values()].map(({ title }) => withoutDot(title)))
  expect(said.filter((text) => !titles.has(withoutDot(text)))).toEqual([])
})

/** What ends a program, or a request of the command. */
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

test('every error that ends a program has its place', () => {
  const folders = ['packages/contract/src', 'scripts', 'apps/server/src', 'apps/agent/src', 'apps/edge/src']
  const said = [...collectErrors(ROOT, folders, ERRORS)].map((text) => text.split('\n')[0] ?? '')
  expect(said.length).toBeGreaterThan(60)
  const titles = new Set([...entries.values()].map(({ title }) => withoutDot(title)))
  expect(said.filter((text) => !titles.has(withoutDot(text)))).toEqual([])
})

test('what the install line says has its place', () => {
  const script = renderInstaller('https://postern.example.com', { bundle: '', x64: '', arm64: '' })
  const said = [...script.matchAll(/\bfail "(.+)"$/gm)].map(([, text = '']) =>
    text.replace(/\$\([^)]*\)|\$\w+/g, '…'),
  )
  expect(said.length).toBeGreaterThan(5)
  const titles = new Set([...entries.values()].map(({ title }) => title))
  expect(said.filter((text) => !titles.has(text))).toEqual([])
})

test('each address comes from the message', () => {
  const prefixes = Object.keys(KEYED).map((prefix) => `${prefix}-`)
  const own = [...entries.values()].filter(({ id }) => !prefixes.some((prefix) => id.startsWith(prefix)))
  for (const { id, title } of own) expect(id).toBe(addressOf(title))
})

/** Some say the same as the end of a sentence. */
const withoutDot = (text: string) => text.replace(/\.$/, '')

function kebab(key: string): string {
  return key
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase()
}

/** The first words of a message, as in an address. */
function addressOf(message: string): string {
  return slugOf(message.replaceAll('…', ' ')).split('-').slice(0, 9).join('-')
}
