import { createContext, useContext } from 'react'
import type { Theirs } from '../../ui/input/Field.tsx'

/** What another person made meanwhile of the fields that were also changed here. */
export interface Disputes {
  /** By the name of the field. */
  theirs: ReadonlyMap<string, string>
  /** What other fields were before that person changed them, by their names. */
  changed: ReadonlyMap<string, string>
  /** Puts the other's value into the field. */
  take: (name: string) => void
}

const NONE: Disputes = { theirs: new Map(), changed: new Map(), take() {} }
export const CurrentDisputes = createContext(NONE)

export function useTheirs(name: string): Theirs | undefined {
  const { theirs, changed, take } = useContext(CurrentDisputes)
  const words = theirs.get(name)
  if (words !== undefined) return { words, onTake: () => take(name) }
  const before = changed.get(name)
  return before === undefined ? undefined : { words: before }
}
