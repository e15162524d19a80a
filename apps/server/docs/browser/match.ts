/** One section of a page: its address, its page's title, its own, and its words. */
export type IndexEntry = readonly [href: string, page: string, title: string, text: string]

export interface Hit {
  href: string
  page: string
  title: string
  /** The words around the first place that matches. */
  excerpt: string
}

const MOST = 12
const BEFORE = 36
const LENGTH = 150

/** The words that someone looks for, in lower case. */
export function wordsOf(query: string): string[] {
  return query.toLowerCase().split(/\s+/).filter(Boolean)
}

/** The sections that have all words, the best first. */
export function search(index: readonly IndexEntry[], query: string): Hit[] {
  const words = wordsOf(query)
  if (words.length === 0) return []
  return index
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST)
    .map(({ entry: [href, page, title, text] }) => ({ href, page, title, excerpt: excerptOf(text, words) }))
}

/** 0 when a word is missing. A word of the title counts more than one of the text, and its start more than its middle. */
function scoreOf([href, page, title, text]: IndexEntry, words: readonly string[]): number {
  const places = [
    { words: title.toLowerCase(), worth: 8 },
    { words: page.toLowerCase(), worth: 3 },
    { words: text.toLowerCase(), worth: 1 },
  ]
  // Of equals a whole page comes before a part of one.
  let sum = href.includes('#') ? 0 : 1
  for (const word of words) {
    const best = Math.max(...places.map((place) => worthOf(place.words, word) * place.worth))
    if (best === 0) return 0
    sum += best
  }
  const phrase = words.join(' ')
  const isWhole = words.length > 1 && places.some((place) => place.words.includes(phrase))
  return isWhole ? sum * 2 : sum
}

function worthOf(text: string, word: string): number {
  const at = text.indexOf(word)
  if (at < 0) return 0
  return at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1] ?? '') ? 2 : 1
}

function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase()
  const found = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0)
  const from = Math.max(0, Math.min(...found, lower.length) - BEFORE)
  const start = found.length === 0 || from === 0 ? 0 : text.indexOf(' ', from) + 1
  const part = text.slice(start, start + LENGTH)
  return `${start > 0 ? '… ' : ''}${part}${start + LENGTH < text.length ? ' …' : ''}`
}

/** A text in parts, those that match and those between. */
export function markedParts(text: string, words: readonly string[]): { text: string; isMatch: boolean }[] {
  if (words.length === 0) return [{ text, isMatch: false }]
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return text
    .split(new RegExp(`(${escaped.join('|')})`, 'gi'))
    .map((part, index) => ({ text: part, isMatch: index % 2 === 1 }))
    .filter((part) => part.text !== '')
}
