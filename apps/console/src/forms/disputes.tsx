import { createContext, useContext } from 'react'
import type { Theirs } from '../ui/Field.tsx'
import { FormDialog, type FormDialogProps } from '../ui/FormDialog.tsx'

/** What another person made meanwhile of the fields that were also changed here. */
export interface Disputes {
  /** By the name of the field. */
  theirs: ReadonlyMap<string, string>
  /** Puts the other's value into the field. */
  take: (name: string) => void
}

const NONE: Disputes = { theirs: new Map(), take() {} }
const Current = createContext(NONE)

export function useTheirs(name: string): Theirs | undefined {
  const { theirs, take } = useContext(Current)
  const words = theirs.get(name)
  return words === undefined ? undefined : { words, onTake: () => take(name) }
}

export interface RecordDialogProps extends FormDialogProps {
  disputes: Disputes
}

/** The dialog of a form that edits a record: its fields know what was changed meanwhile. */
export function RecordDialog({ disputes, ...props }: RecordDialogProps) {
  return (
    <Current value={disputes}>
      <FormDialog {...props} />
    </Current>
  )
}
