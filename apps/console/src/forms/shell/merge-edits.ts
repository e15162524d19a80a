import type { FieldValues } from 'react-hook-form'

/**
 * Lays typed values over the newest record: an untouched field takes its newest value. `conflicting` are the fields that
 * both people changed differently, with the newest value and its text; `taken` are those that only the other person
 * changed, with the text of the previous value.
 */
export function mergeEdits<In extends FieldValues>(old: In, typed: In, fresh: In) {
  const names = Object.keys(fresh)
  const touched = names.filter((name) => !isSame(typed[name], old[name]))
  const conflicting = touched.filter(
    (name) => !isSame(fresh[name], old[name]) && !isSame(fresh[name], typed[name]),
  )
  const taken = names.filter((name) => !touched.includes(name) && !isSame(fresh[name], old[name]))
  return {
    taken: taken.map((name) => ({ name, words: inWords(old[name]) })),
    kept: touched.map((name) => ({ name, value: typed[name] })),
    conflicting: conflicting.map((name) => ({ name, value: fresh[name], words: inWords(fresh[name]) })),
  }
}

/** The values of forms are simple: texts, numbers, and lists of them. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null)
}

function inWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(inWords).join(', ') || 'an empty list'
  if (typeof value === 'object' && value !== null) return Object.values(value).join(' ')
  return String(value ?? '') || 'nothing'
}
