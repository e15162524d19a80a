import type { Bypass } from './bypass.ts'

/** As HAProxy's Lua has them: longer paths, and what takes more steps, always need a sign-in. */
const MAX_PATH = 1024
const MAX_STEPS = 4096

interface Part {
  isSkipped: boolean
  isRepeated: boolean
  ranges: [number, number][]
}

/** The same decision as HAProxy's Lua, for a path that every program reads in one way. Escapes always need a sign-in here. */
export function isBypassed({ paths, expressions }: Bypass, path: string): boolean {
  if (path.length > MAX_PATH || path.includes('%')) return false
  if (paths.includes(path)) return true
  let steps = MAX_STEPS
  for (const expression of expressions) {
    const [matches, taken] = match(expression, path, steps)
    steps -= taken
    if (matches || steps < 0) return matches
  }
  return false
}

function match(expression: string, path: string, steps: number): [matches: boolean, taken: number] {
  const isWhole = expression.startsWith('w')
  const parts = expression
    .slice(1)
    .split(':')
    .filter((text) => text !== '')
    .map(parsePart)
  const end = parts.length
  let states = follow(parts, [0])
  let taken = 0
  for (let at = 0; at < path.length; at++) {
    if (states.has(end) && !isWhole) return [true, taken]
    const byte = path.charCodeAt(at)
    const met = [...states].filter((state) =>
      parts[state]?.ranges.some(([from, to]) => from <= byte && byte <= to),
    )
    taken++
    if (met.length === 0 || taken > steps) return [false, taken]
    states = follow(
      parts,
      met.flatMap((state) => (parts[state]?.isRepeated ? [state, state + 1] : [state + 1])),
    )
  }
  return [states.has(end), taken]
}

/** With those behind parts that may be left out. */
function follow(parts: readonly Part[], from: readonly number[]): Set<number> {
  const all = new Set<number>()
  for (const start of from)
    for (let state = start; !all.has(state); state++) {
      all.add(state)
      if (!parts[state]?.isSkipped) break
    }
  return all
}

function parsePart(text: string): Part {
  const quantity = text.charAt(0)
  return {
    isSkipped: quantity === 's' || quantity === 'q',
    isRepeated: quantity === 's' || quantity === 'p',
    ranges: text
      .slice(1)
      .split('.')
      .map((range) => {
        const [from = '', to = from] = range.split('-')
        return [Number.parseInt(from, 16), Number.parseInt(to, 16)]
      }),
  }
}
