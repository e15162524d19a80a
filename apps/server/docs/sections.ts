import type { Token, Tokens } from 'marked'

/** A part of a page with an address of its own: below a heading, or a row of a table. */
export interface Section {
  /** Empty for the page itself. */
  id: string
  title: string
  /** 1 to 6 of a heading; 0 of a row, which no outline shows. */
  depth: number
  text: string
}

const SPOT = /<a id="([a-z0-9-]+)">/

/** @param idOf the address of a heading */
export function sectionsOf(tokens: readonly Token[], idOf: (token: Token) => string): Section[] {
  const sections: Section[] = [{ id: '', title: '', depth: 1, text: '' }]
  const rows: Section[] = []
  for (const token of tokens) {
    const last = sections.at(-1)
    if (!last) break
    if (token.type !== 'heading') {
      const { text, own } = textOf(token)
      last.text = `${last.text} ${text}`.trim()
      rows.push(...own)
    } else if (token.depth === 1 && sections.length === 1) last.title = plainText([token])
    else sections.push({ id: idOf(token), title: plainText([token]), depth: token.depth, text: '' })
  }
  return [...sections, ...rows]
}

/** A row with an address is a section of its own; any other belongs to the section around it. */
function textOf(token: Token): { text: string; own: Section[] } {
  if (token.type !== 'table') return { text: plainText([token]), own: [] }
  // Marked's types do not narrow a token by its kind.
  const { header, rows } = token as Tokens.Table
  const own: Section[] = []
  const rest = SPOT.test(rows[0]?.[0]?.text ?? '') ? [] : [header]
  for (const row of rows) {
    const id = row.map((cell) => SPOT.exec(cell.text)?.[1]).find((found) => found !== undefined)
    const [title = '', ...words] = row.map((cell) => plainText(cell.tokens))
    if (id === undefined) rest.push(row)
    else own.push({ id, title, depth: 0, text: words.join(' ') })
  }
  return { text: rest.flatMap((row) => row.map((cell) => plainText(cell.tokens))).join(' '), own }
}

/** The words of tokens, without marks and pictures. */
export function plainText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => wordsOf(token))
    .join('')
    .replace(/\s+/g, ' ')
    .trim()
}

function wordsOf(token: Token): string {
  if (token.type === 'image' || SPOT.test(token.raw) || token.raw === '</a>') return ''
  if (token.type === 'list')
    return (token as Tokens.List).items.map((item) => `${plainText(item.tokens)} `).join('')
  if (token.type === 'space' || token.type === 'br') return ' '
  const inner = 'tokens' in token && token.tokens ? token.tokens.map(wordsOf).join('') : undefined
  return inner ?? ('text' in token ? unescapeHtml(String(token.text)) : '')
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Marked escapes the text of some tokens. */
function unescapeHtml(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}

/** The first sentence of the first paragraph. */
export function summaryOf(tokens: readonly Token[]): string {
  const first = tokens.find(({ type }) => type === 'paragraph')
  return first
    ? (/^.*?[.:](?= |$)/.exec(plainText([first]))?.[0] ?? plainText([first])).replace(/:$/, '.')
    : ''
}

/** Addresses of headings, each unique: a second one with the same words gets a number. */
export function createSlugs(): (words: string) => string {
  const used = new Map<string, number>()
  return (words) => {
    const slug = slugOf(words)
    const count = (used.get(slug) ?? 0) + 1
    used.set(slug, count)
    return count === 1 ? slug : `${slug}-${count}`
  }
}

export function slugOf(words: string): string {
  return words
    .replace(/[&<>"']/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
}
