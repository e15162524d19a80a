import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

/** One thing to go to or to do. */
export interface Entry {
  id: string
  group: string
  icon: LucideIcon
  text: string
  /** A domain value. */
  mono?: boolean
  /** Beside the text, in fewer words than a sentence. */
  sub?: ReactNode
  /** Other words by which it is found. */
  words?: string
  run: () => void
}

/** Those that have every typed word in their texts. */
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

export type ServiceVerb = 'logs' | 'edit' | 'enable' | 'disable'

/** `logs wiki`: what to do, and with what. */
export function readVerb(typed: string): { verb: ServiceVerb | undefined; text: string } {
  const [, verb, text] = /^(logs|edit|enable|disable)\s+(\S.*)$/i.exec(typed.trim()) ?? []
  // The expression knows no other word.
  return { verb: verb?.toLowerCase() as ServiceVerb | undefined, text: text ?? typed.trim() }
}
