import { FormDialog, type FormDialogProps } from '../../ui/overlay/FormDialog.tsx'
import { type Conflicts, CurrentConflicts } from './conflicts.ts'

export interface RecordDialogProps extends FormDialogProps {
  conflicts: Conflicts
}

/** The dialog of a form that edits a record: its fields show what another person changed meanwhile. */
export function RecordDialog({ conflicts, ...props }: RecordDialogProps) {
  return (
    <CurrentConflicts value={conflicts}>
      <FormDialog {...props} />
    </CurrentConflicts>
  )
}
