import MiniSearch, { type Query } from 'minisearch'
import { stemmer } from 'stemmer'

/** One section of a page: its address, its page's title, its own, and its words. */
export type IndexEntry = readonly [href: string, page: string, title: string, text: string]

/** A piece of a text, and whether it matches. */
export interface Part {
  text: string
  isMatch: boolean
}

export interface Hit {
  href: string
  /** The title of the page. */
  page: string
  /** The title of the section. */
  title: string
  titleParts: Part[]
  /** The words around the first place that matches. */
  excerpt: Part[]
}

const MOST = 12
const BEFORE = 36
const LENGTH = 150
const LONGEST_QUERY = 200

/** Words of a question that carry no meaning. */
const EMPTY = new Set('a an and are by can do for how i in is it my of on or the to what with'.split(' '))

/** A word of the pages, and other words that people use for it. */
const SYNONYMS: readonly (readonly [word: string, others: string])[] = [
  ['encrypt', 'letsencrypt'],
  ['certificate', 'https ssl tls'],
  ['sign', 'login sso oauth oidc'],
  ['factor', '2fa mfa otp totp'],
  ['product', 'ngrok pangolin tailscale traefik caddy'],
  ['jellyfin', 'emby'],
  ['works', 'architecture'],
  ['command', 'cli'],
  ['kubernetes', 'k8s'],
  ['memory', 'ram'],
  ['forgotten', 'lost'],
  ['remove', 'uninstall'],
  ['upgrade', 'update'],
  ['tunnel', 'vpn'],
  ['dynamic', 'ddns dyndns'],
  ['allow', 'whitelist'],
  ['block', 'blacklist'],
]
const OTHER_WORDS = new Map(
  SYNONYMS.flatMap(([word, others]) => others.split(' ').map((other) => [stemOf(other), word])),
)

/** A setting's name is one word, and so are its parts. */
const WORD = /[\p{L}\p{N}_'’]+/gu

/** Built once: finds the sections for a query, best first. */
export function createSearch(entries: readonly IndexEntry[]): (query: string) => Hit[] {
  const index = new MiniSearch({
    fields: ['title', 'page', 'text'],
    tokenize: (text) => (text.match(WORD) ?? []).flatMap(withParts),
    searchOptions: { tokenize: (text) => text.match(WORD) ?? [] },
    processTerm: stemOf,
  })
  index.addAll(entries.map(([, page, title, text], id) => ({ id, page, title, text })))
  return (query) => {
    const wanted = wordsOf(query)
    if (wanted.length === 0) return []
    const ask = (combineWith: 'AND' | 'OR') =>
      index.search(
        { combineWith, queries: wanted.map(withSynonym) },
        {
          boost: { title: 6, page: 2 },
          boostDocument: (id) => rankOf(entries[Number(id)], wanted.length),
          prefix: (term) => term.length > 2,
          fuzzy: (term) => (term.length > 5 ? 1 : false),
        },
      )
    const all = ask('AND')
    return (all.length > 0 ? all : ask('OR')).slice(0, MOST).flatMap(({ id, terms }) => {
      const entry = entries[Number(id)]
      return entry ? [toHit(entry, new Set(terms))] : []
    })
  }
}

function withSynonym(word: string): Query {
  const other = OTHER_WORDS.get(stemOf(word))
  return other === undefined ? word : { combineWith: 'OR', queries: [word, other] }
}

/** The words of a query, without those that every section has. */
export function wordsOf(query: string): string[] {
  const words = query.slice(0, LONGEST_QUERY).match(WORD) ?? []
  const telling = words.filter((word) => !EMPTY.has(word.toLowerCase()))
  return telling.length > 0 ? telling : words
}

function withParts(word: string): string[] {
  return word.includes('_') ? [word, ...word.split('_').filter(Boolean)] : [word]
}

/** Without case, accents and apostrophes, and cut to its stem. */
function stemOf(word: string): string {
  const plain = word
    .normalize('NFKD')
    .replace(/[\p{M}'’]/gu, '')
    .toLowerCase()
  return stemmer(plain)
}

/**
 * A whole page comes first. The many messages come last: a person with a message enters several of its words, but one
 * or two are about a subject.
 */
function rankOf([href, page] = ['', ''] as readonly string[], words: number): number {
  if (page === 'Troubleshooting') return words > 2 ? 0.5 : 0.15
  return href?.includes('#') ? 1 : 1.5
}

function toHit([href, page, title, text]: IndexEntry, terms: ReadonlySet<string>): Hit {
  const parts = markedParts(text, terms)
  return { href, page, title, titleParts: markedParts(title, terms), excerpt: cut(text, parts) }
}

/** A text in parts, those that match and those between. */
function markedParts(text: string, terms: ReadonlySet<string>): Part[] {
  return text
    .split(/([\p{L}\p{N}_'’]+)/u)
    .map((part, at) => ({ text: part, isMatch: at % 2 === 1 && terms.has(stemOf(part)) }))
    .filter((part) => part.text !== '')
}

/** Some words of a long text: from a little before the first that matches. */
function cut(text: string, parts: readonly Part[]): Part[] {
  const first = parts.findIndex(({ isMatch }) => isMatch)
  const before = parts.slice(0, Math.max(0, first)).reduce((sum, part) => sum + part.text.length, 0)
  const start = before <= BEFORE ? 0 : text.indexOf(' ', before - BEFORE) + 1
  const end = start + LENGTH
  let at = 0
  const inside = parts.flatMap((part) => {
    const from = Math.max(start - at, 0)
    const to = Math.max(end - at, 0)
    at += part.text.length
    const words = part.text.slice(from, to)
    return words === '' ? [] : [{ ...part, text: words }]
  })
  const dots = (isThere: boolean, words: string) => (isThere ? [{ text: words, isMatch: false }] : [])
  return [...dots(start > 0, '… '), ...inside, ...dots(end < text.length, ' …')]
}
