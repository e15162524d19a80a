import { createContext, useContext } from 'react'
import type { Theirs } from '../../ui/input/Field.tsx'

/** The values that another person gave meanwhile to fields that were also changed here. */
export interface Conflicts {
  /** By the name of the field. */
  theirs: ReadonlyMap<string, string>
  /** The previous values of other fields that this person changed, by name. */
  changed: ReadonlyMap<string, string>
  /** Takes the other person's value. */
  take: (name: string) => void
}

const NONE: Conflicts = { theirs: new Map(), changed: new Map(), take() {} }
export const CurrentConflicts = createContext(NONE)

export function useTheirs(name: string): Theirs | undefined {
  const { theirs, changed, take } = useContext(CurrentConflicts)
  const words = theirs.get(name)
  if (words !== undefined) return { words, onTake: () => take(name) }
  const before = changed.get(name)
  return before === undefined ? undefined : { words: before }
}
