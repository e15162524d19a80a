import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { type IndexEntry, markedParts, search } from './browser/match.ts'
import { readDocs } from './library.ts'
import { outlineOf } from './outline.ts'
import { makeSearchIndex } from './search-index.ts'

const library = readDocs(fileURLToPath(new URL('../../..', import.meta.url)))
const index = makeSearchIndex(
  library,
  outlineOf((name) => library.pages.has(name)),
)

it.each([
  ['let encrypt', '/docs/certificates#lets-encrypt'],
  ['exit codes', '/docs/cli#exit-codes'],
  ['trusted_proxies home assistant', '/docs/behind-the-proxy#home-assistant'],
  ['POSTERN_PORT_RANGE', '/docs/settings'],
  ['public port', '/docs/tcp-and-udp'],
])('%j is found at %s', (query, href) => {
  expect(search(index, query).map((hit) => hit.href)).toContain(href)
})

it('finds a title before a text, a start before a middle, and nothing where a word is missing', () => {
  const entry = (title: string, text: string): IndexEntry => [`/docs/${title}`, 'Page', title, text]
  const small = [entry('a', 'support'), entry('b', 'a port'), entry('Port', ''), entry('c', 'none')]
  expect(search(small, ' PORT ').map(({ title }) => title)).toEqual(['Port', 'b', 'a'])
  expect(search(small, 'port nothing')).toEqual([])
  expect(search(small, '  ')).toEqual([])
})

it('finds a whole page before a part of another', () => {
  expect(search(index, 'certificate')[0]?.href).toBe('/docs/certificates')
})

it('shows the words around what was found', () => {
  const text = `${'before '.repeat(40)}the needle ${'after '.repeat(40)}`
  const [hit] = search([['/docs/x', 'X', 'x', text]], 'needle')
  expect(hit?.excerpt).toMatch(/^… before .*the needle after .* …$/)
  expect(hit?.excerpt.length).toBeLessThan(160)
})

it('marks what was found, whatever characters it has', () => {
  expect(markedParts('A (b) a', ['(b)', 'a'])).toEqual([
    { text: 'A', isMatch: true },
    { text: ' ', isMatch: false },
    { text: '(b)', isMatch: true },
    { text: ' ', isMatch: false },
    { text: 'a', isMatch: true },
  ])
})
