import type { FieldValues } from 'react-hook-form'

/**
 * Lays what was typed over the newest record: a field that was not touched takes its newest value.
 * `disputed` are the fields that both people changed, each in another way, with the newest value and words for it;
 * `taken` those that only the other one changed, with words for what they were.
 */
export function mergeEdits<In extends FieldValues>(old: In, typed: In, fresh: In) {
  const names = Object.keys(fresh)
  const touched = names.filter((name) => !isSame(typed[name], old[name]))
  const disputed = touched.filter(
    (name) => !isSame(fresh[name], old[name]) && !isSame(fresh[name], typed[name]),
  )
  const taken = names.filter((name) => !touched.includes(name) && !isSame(fresh[name], old[name]))
  return {
    taken: taken.map((name) => ({ name, words: inWords(old[name]) })),
    kept: touched.map((name) => ({ name, value: typed[name] })),
    disputed: disputed.map((name) => ({ name, value: fresh[name], words: inWords(fresh[name]) })),
  }
}

/** The values of forms are plain: texts, numbers, and lists of them. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null)
}

function inWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(inWords).join(', ') || 'an empty list'
  if (typeof value === 'object' && value !== null) return Object.values(value).join(' ')
  return String(value ?? '') || 'nothing'
}
