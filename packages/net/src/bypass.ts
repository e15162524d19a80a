/**
 * Paths that need no sign-in: exact ones, and expressions of a restricted form, for which HAProxy's Lua needs time
 * that grows only with the length of a path.
 */
export interface Bypass {
  paths: string[]
  /** See `compileExpressions`. */
  expressions: string[]
}

export type BypassFault = 'method' | 'characters' | 'expression' | 'start' | 'complex' | 'many'
export interface BypassProblem {
  /** Counts physical lines, from 1. */
  line: number
  fault: BypassFault
}

/** An expression fits into one number of Lua, which has a bit for each of its parts and one for its end. */
const MAX_PARTS = 62
const MAX_LINE = 200
const MAX_PROGRAM = 2000
/** Paths and alternatives of one service. Lua tries one after the other. */
const MAX_EXPRESSIONS = 50

/** Characters of a path that every program reads in the same way. */
const PATH = /^\/[A-Za-z0-9._~!$()*+,=:@/-]*$/
/** Quotes, backticks, `;`, `&`, angle brackets, backslash, control characters and blanks. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const FORBIDDEN = /["'`;&<>\\\s\u0000-\u001f\u007f]/

/** One line each; blank lines do not count, blanks around a line neither. */
export function parseBypass(text: string): { bypass: Bypass; problems: BypassProblem[] } {
  const bypass: Bypass = { paths: [], expressions: [] }
  const problems: BypassProblem[] = []
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (line === '') continue
    const fault = findFault(line)
    if (fault) {
      problems.push({ line: index + 1, fault })
      continue
    }
    const isPath = line.startsWith('/')
    const found = isPath ? [line] : (compileExpressions(line) ?? [])
    if (bypass.paths.length + bypass.expressions.length + found.length > MAX_EXPRESSIONS)
      problems.push({ line: index + 1, fault: 'many' })
    else (isPath ? bypass.paths : bypass.expressions).push(...found)
  }
  return { bypass, problems }
}

function findFault(line: string): BypassFault | undefined {
  if (/^[A-Z]+\s*!?=/.test(line)) return 'method'
  if (FORBIDDEN.test(line)) return 'characters'
  if (line.startsWith('^')) {
    if (!isRegExp(line)) return 'expression'
    return compileExpressions(line) === undefined ? 'complex' : undefined
  }
  if (!line.startsWith('/')) return 'start'
  return PATH.test(line) && line.length <= 255 ? undefined : 'characters'
}

function isRegExp(text: string): boolean {
  try {
    new RegExp(text)
    return true
  } catch {
    return false
  }
}

/** `o`nce, `q`: once or not at all, `s`: any number of times, `p`: once or more. */
type Quantity = 'o' | 'q' | 's' | 'p'
interface Part {
  /** First and last byte of each range. */
  ranges: [number, number][]
  quantity: Quantity
}

const ANY: [number, number][] = [[1, 255]]

/**
 * An expression of letters, `.`, classes, the quantifiers `* + ? {n} {n,} {n,m}`, groups and alternatives, and `$` at its
 * end; no escapes, and of quantifiers only `?` behind a group. Each alternative begins where the path does, whether `^` is
 * repeated or not: `^/a|b` is `^(?:/a|b)`, of which `b` matches nothing.
 * @returns one text for each alternative: `w`hole path or `b`eginning, then its parts like `p30-39`, with colons between
 * them; undefined for others
 */
export function compileExpressions(text: string): string[] | undefined {
  if (!text.startsWith('^') || text.length > MAX_LINE) return undefined
  const plain = spellOut(text.slice(1))
  // An empty alternative would open every path, which nobody means.
  if (!plain || (plain.length > 1 && plain.includes(''))) return undefined
  const programs = [...new Set(plain)].map(compilePlain)
  return programs.every((program) => program !== undefined) ? programs : undefined
}

/** @param text without groups and alternatives, and without `^` */
function compilePlain(text: string): string | undefined {
  const isWhole = text.endsWith('$')
  const parts = parseParts(text.slice(0, isWhole ? -1 : undefined))
  if (!parts || parts.length > MAX_PARTS) return undefined
  const program = (isWhole ? 'w' : 'b') + parts.map(formatPart).join(':')
  return program.length <= MAX_PROGRAM ? program : undefined
}

/** All texts without groups that together match the same; undefined for what cannot be read, and for too many. */
function spellOut(text: string): string[] | undefined {
  let rest = text
  const take = (sign: string): boolean => {
    if (!rest.startsWith(sign)) return false
    rest = rest.slice(sign.length)
    return true
  }
  const takeGroup = (): string[] | undefined => {
    if (!take('?:') && rest.startsWith('?')) return undefined
    const inner = takeAlternatives(false)
    if (!inner || !take(')')) return undefined
    return take('?') ? [...inner, ''] : inner
  }
  const takeSequence = (): string[] | undefined => {
    let found: string[] | undefined = ['']
    while (found && rest !== '' && !/^[|)]/.test(rest)) {
      const next = take('(') ? takeGroup() : takeOne()
      found = next && found.flatMap((start) => next.map((end) => start + end))
      if (found && found.length > MAX_EXPRESSIONS) found = undefined
    }
    return found
  }
  const takeOne = (): string[] | undefined => {
    const [atom] = ATOM.exec(rest) ?? (rest.startsWith('$') ? ['$'] : [])
    if (atom === undefined) return undefined
    rest = rest.slice(atom.length)
    return [atom]
  }
  const takeAlternatives = (isOuter: boolean): string[] | undefined => {
    const all: string[] = []
    do {
      if (isOuter && all.length > 0) take('^')
      const some = takeSequence()
      if (!some || all.length + some.length > MAX_EXPRESSIONS) return undefined
      all.push(...some)
    } while (take('|'))
    return all
  }
  const all = takeAlternatives(true)
  return rest === '' ? all : undefined
}

const ATOM =
  /^(?:(\.)|\[(\^?)([A-Za-z0-9/._~%@:,=!#*+?$(){}|-]+)\]|([A-Za-z0-9/_~%@:,=!#-]))(?:([*+?])|\{(\d{1,2})(,?)(\d{0,2})\})?/

function parseParts(text: string): Part[] | undefined {
  const parts: Part[] = []
  for (let rest = text; rest !== ''; ) {
    const found = ATOM.exec(rest)
    if (!found || parts.length > MAX_PARTS) return undefined
    const [all, any, negation, members, letter, sign, least, comma, most] = found
    rest = rest.slice(all.length)
    const ranges = any ? ANY : letter ? one(letter) : findRanges(members ?? '', negation === '^')
    const times = ranges && findTimes(sign, least, comma, most)
    if (!times) return undefined
    parts.push(...times.map((quantity) => ({ ranges, quantity })))
  }
  return parts
}

const one = (letter: string): [number, number][] => [[letter.charCodeAt(0), letter.charCodeAt(0)]]

function findRanges(members: string, isNegated: boolean): [number, number][] | undefined {
  const has = new Set<number>()
  for (let at = 0; at < members.length; at++) {
    const from = members.charCodeAt(at)
    const isRange = members[at + 1] === '-' && at + 2 < members.length
    const to = isRange ? members.charCodeAt(at + 2) : from
    if (to < from) return undefined
    for (let byte = from; byte <= to; byte++) has.add(byte)
    if (isRange) at += 2
  }
  const ranges: [number, number][] = []
  for (let byte = 1; byte <= 255; byte++) {
    if (has.has(byte) === isNegated) continue
    const last = ranges.at(-1)
    if (last?.[1] === byte - 1) last[1] = byte
    else ranges.push([byte, byte])
  }
  return ranges.length > 0 ? ranges : undefined
}

const SIGNS: Readonly<Record<string, Quantity>> = { '*': 's', '+': 'p', '?': 'q' }

function findTimes(
  sign: string | undefined,
  least: string | undefined,
  comma: string | undefined,
  most: string | undefined,
): Quantity[] | undefined {
  if (sign) return [SIGNS[sign] ?? 'o']
  if (least === undefined) return ['o']
  const from = Number(least)
  const to = comma && !most ? undefined : comma ? Number(most) : from
  if (to === undefined) return [...Array<Quantity>(from).fill('o'), 's']
  if (to < from || to === 0) return undefined
  return [...Array<Quantity>(from).fill('o'), ...Array<Quantity>(to - from).fill('q')]
}

function formatPart({ ranges, quantity }: Part): string {
  const hex = (byte: number) => byte.toString(16).padStart(2, '0')
  return (
    quantity + ranges.map(([from, to]) => (from === to ? hex(from) : `${hex(from)}-${hex(to)}`)).join('.')
  )
}
