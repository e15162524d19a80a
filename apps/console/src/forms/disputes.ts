import { createContext, useContext } from 'react'
import type { Theirs } from '../ui/Field.tsx'

/** What another person made meanwhile of the fields that were also changed here. */
export interface Disputes {
  /** By the name of the field. */
  theirs: ReadonlyMap<string, string>
  /** Puts the other's value into the field. */
  take: (name: string) => void
}

const NONE: Disputes = { theirs: new Map(), take() {} }
export const CurrentDisputes = createContext(NONE)

export function useTheirs(name: string): Theirs | undefined {
  const { theirs, take } = useContext(CurrentDisputes)
  const words = theirs.get(name)
  return words === undefined ? undefined : { words, onTake: () => take(name) }
}
