/** What can be done with a thing that a person names; each with the words for it, the usual one first. */
const VERBS = {
  logs: ['logs', 'log'],
  requests: ['requests'],
  why: ['why'],
  open: ['open', 'show', 'go'],
  edit: ['edit', 'change'],
  enable: ['enable', 'connect'],
  disable: ['disable', 'disconnect'],
  delete: ['delete', 'remove'],
  rotate: ['rotate', 'renew'],
  copy: ['copy'],
  drain: ['drain'],
  undrain: ['undrain'],
  add: ['add', 'new', 'expose', 'publish'],
} as const satisfies Record<string, readonly string[]>

export type Verb = keyof typeof VERBS

/** What a person may mean: `logs of wiki` are the logs of what `wiki` finds. */
export interface Reading {
  verb: Verb | undefined
  /** Means all of it: `all 20 of site-07`, `disable all of site-07`. */
  isAll: boolean
  /** The type of service that was named. */
  type: 'http' | 'tcp' | undefined
  /** What it is about; empty as long as only the verb is there. */
  text: string
}

/** A shorter beginning could be that of nearly anything. */
const SHORTEST = 2

const LINKING = new Set([
  'of',
  'for',
  'on',
  'in',
  'at',
  'to',
  'from',
  'the',
  'a',
  'is',
  'are',
  'does',
  'with',
])
const ALL = new Set(['all', 'every', 'everything'])
const TYPES: ReadonlyMap<string, 'http' | 'tcp'> = new Map([
  ['http', 'http'],
  ['tcp', 'tcp'],
  ['udp', 'tcp'],
])
/** What a verb is said with, as in `rotate the token of nas` or `why is wiki down`. */
const SAID_WITH: Partial<Record<Verb, ReadonlySet<string>>> = {
  why: new Set(['not', 'down', 'failing', 'failed', 'offline', 'unreachable', 'reachable', 'answering']),
  rotate: new Set(['access', 'token', 'tokens']),
  copy: new Set(['public', 'address', 'url', 'link', 'ip']),
}
const KINDS = new Set(['service', 'services', 'node', 'client', 'domain', 'edge'])

/** Reads what was typed. Word order, linking words and the ends of verbs do not matter: `dis graf`, `grafana logs`. */
export function readTyped(typed: string): Reading {
  const words = typed.trim().split(/\s+/)
  const at = findVerb(words.map((word) => word.toLowerCase().replace(/\?$/, '')))
  if (at) return { verb: at.verb, ...readObject(words.toSpliced(at.index, 1), at.verb) }
  const first = words[0]?.toLowerCase() ?? ''
  if (words.length > 1 && (ALL.has(first) || first === 'services'))
    return { verb: undefined, ...readObject(words, undefined), isAll: true }
  return { verb: undefined, isAll: false, type: undefined, text: typed.trim() }
}

/** First or last; a beginning counts only where another word says what it is about. */
function findVerb(words: readonly string[]): { verb: Verb; index: number } | undefined {
  const ends = words.length > 1 ? [0, words.length - 1] : [0]
  const places = [...ends, ...words.keys()]
  for (const index of places) {
    const verb = verbOf((word) => word === words[index])
    if (verb) return { verb, index }
  }
  if (words.length === 1) return undefined
  for (const index of ends) {
    const typed = words[index] ?? ''
    const verb = typed.length >= SHORTEST && verbOf((word) => word.startsWith(typed))
    if (verb) return { verb, index }
  }
  return undefined
}

function verbOf(isMeant: (word: string) => boolean): Verb | undefined {
  // The keys of an object have no type of their own.
  return (Object.keys(VERBS) as Verb[]).find((verb) => VERBS[verb].some(isMeant))
}

/** Without what only leads to it. */
function readObject(given: readonly string[], verb: Verb | undefined): Omit<Reading, 'verb'> {
  const words = [...given]
  const said = (verb && SAID_WITH[verb]) ?? new Set()
  let isAll = false
  let type: Reading['type']
  const isSaid = (word: string) => LINKING.has(word) || said.has(word)
  const isLead = (word: string) =>
    isSaid(word) || ALL.has(word) || KINDS.has(word) || TYPES.has(word) || (isAll && /^\d+$/.test(word))
  while (words[0] !== undefined && isLead(words[0].toLowerCase())) {
    const word = words[0].toLowerCase()
    // Only linking words lead nowhere; a name may be any other word.
    if (words.length === 1 && !LINKING.has(word) && !ALL.has(word)) break
    isAll ||= ALL.has(word)
    type ??= TYPES.get(word)
    words.shift()
  }
  while (words.length > 1) {
    const last = words.at(-1)?.toLowerCase().replace(/\?$/, '') ?? ''
    if (!isSaid(last) && !ALL.has(last)) break
    isAll ||= ALL.has(last)
    words.pop()
  }
  const text = words.join(' ')
  return { isAll, type, text: verb === 'why' ? text.replace(/\?$/, '') : text }
}
