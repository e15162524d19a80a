import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

/** A place to go to, or a command. */
export interface Entry {
  id: string
  group: string
  icon: LucideIcon
  text: string
  /** What of the text is a name, if not all of it. */
  name?: string
  /** A domain value. */
  mono?: boolean
  /** A short note beside the text. */
  sub?: ReactNode
  /** Further words to find it by. */
  words?: string
  run: () => void
}

/** The entries that contain every typed word. */
export function filterEntries(entries: readonly Entry[], typed: string): readonly Entry[] {
  const wanted = typed.toLowerCase().split(/\s+/)
  return entries.filter(({ group, text, words = '' }) => {
    const all = `${group} ${text} ${words}`.toLowerCase()
    return wanted.every((word) => all.includes(word))
  })
}

/** In the order of their first entries. */
export function groupEntries(entries: readonly Entry[]): readonly (readonly [string, readonly Entry[]])[] {
  return [...Map.groupBy(entries, ({ group }) => group)]
}
