import { FormDialog, type FormDialogProps } from '../../ui/overlay/FormDialog.tsx'
import { CurrentDisputes, type Disputes } from './disputes.ts'

export interface RecordDialogProps extends FormDialogProps {
  disputes: Disputes
}

/** The dialog of a form that edits a record: its fields know what was changed meanwhile. */
export function RecordDialog({ disputes, ...props }: RecordDialogProps) {
  return (
    <CurrentDisputes value={disputes}>
      <FormDialog {...props} />
    </CurrentDisputes>
  )
}
