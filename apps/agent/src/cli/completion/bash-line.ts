/** A command line of bash up to the cursor, as far as its last word is to be completed. */
export interface BashLine {
  /** What the program would get, with the last word as far as it is typed. */
  words: string[]
  /** What bash puts in place of the part of the last word that it replaces, so that the word becomes this text. */
  replace(word: string): string
}

/** Where bash begins a new part of a word, of which it replaces only the last one (COMP_WORDBREAKS). */
const BREAKS = new Set('=:<>;|&(')
/** What a backslash takes the meaning of, inside double quotes. */
const SPECIAL_IN_QUOTES = new Set('"\\$`')

/** What begins text in which quotes and backslashes mean something else, also where double quotes are open. */
const OTHER_RULES = new Set(["$'", '$"', '$(', '${', '$['])

/**
 * Reads quotes and backslashes alone: nothing is expanded, so `$HOME` is these five characters.
 * @returns undefined where other rules hold for quotes, as in `$'…'` and in commands inside of the line: a name that is
 * written by the wrong rules could end its word, and bash would run the rest of it
 */
export function readBashLine(line: string): BashLine | undefined {
  const words: string[] = []
  /** Undefined between words. */
  let word: string | undefined
  /** How much of the word stands before the part that bash replaces. */
  let kept = 0
  let quote: '"' | "'" | undefined
  for (let at = 0; at < line.length; at++) {
    const char = line.charAt(at)
    const next = line.charAt(at + 1)
    if (quote !== "'" && (char === '`' || OTHER_RULES.has(char + next))) return undefined
    if (quote !== undefined && char === quote) {
      quote = undefined
      kept = word?.length ?? 0
    } else if (char === '\\' && quote !== "'" && (quote === undefined || SPECIAL_IN_QUOTES.has(next))) {
      word = (word ?? '') + next
      at++
    } else if (quote !== undefined) word = (word ?? '') + char
    else if (char === '"' || char === "'") {
      quote = char
      word ??= ''
      kept = word.length
    } else if (char === ' ' || char === '\t') {
      if (word !== undefined) words.push(word)
      word = undefined
      kept = 0
    } else {
      word = (word ?? '') + char
      if (BREAKS.has(char)) kept = word.length
    }
  }
  return { words: [...words, word ?? ''], replace: (text) => QUOTE[quote ?? ''](text.slice(kept)) }
}

/** By the quote that is open: the text as it stands there. */
const QUOTE = {
  '': (text: string) => text.replace(/[^\p{L}\p{M}\p{N}_.,/@%+^-]/gu, '\\$&'),
  "'": (text: string) => text.replaceAll("'", "'\\''"),
  // Inside of double quotes nothing takes the meaning of an exclamation mark.
  '"': (text: string) => text.replace(/["\\$`]/g, '\\$&').replaceAll('!', '"\\!"'),
} as const
