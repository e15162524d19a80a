import type { ReactNode, SubmitEvent } from 'react'
import { Button } from './Button.tsx'
import { confirmDiscard, Dialog, DialogBody, DialogFoot } from './Dialog.tsx'
import { SubmitBanner, type SubmitError } from './SubmitBanner.tsx'
import './FormDialog.css'

export interface FormDialogProps {
  title: string
  description: ReactNode
  size?: 's' | 'm' | 'l'
  /** Required, so that no form forgets them. */
  loading: boolean
  submitError: SubmitError | null
  dirty: boolean
  onSubmit: (event: SubmitEvent<HTMLFormElement>) => void
  onClose: () => void
  saveText?: string
  footNote?: ReactNode
  children: ReactNode
}

/** Title, buttons, busy state and the server's errors of every form. */
export function FormDialog(props: FormDialogProps) {
  const { title, description, size = 'm', loading, submitError, dirty, onSubmit, onClose, children } = props
  const cancel = async () => {
    if (!dirty || (await confirmDiscard())) onClose()
  }
  return (
    <Dialog
      title={title}
      description={description}
      size={size}
      dirty={dirty}
      busy={loading}
      onClose={onClose}
    >
      <form noValidate onSubmit={onSubmit}>
        <DialogBody>
          {submitError && <SubmitBanner error={submitError} />}
          {children}
        </DialogBody>
        <DialogFoot note={props.footNote}>
          <Button disabled={loading} onClick={cancel}>
            Cancel
          </Button>
          <Button variant="primary" type="submit" busy={loading}>
            {props.saveText ?? 'Save'}
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  )
}

/** A part of a form, with its name in a column of its own. */
export function FormSection({
  legend,
  first,
  children,
}: {
  legend: string
  first?: boolean
  children: ReactNode
}) {
  return (
    <fieldset className={first ? 'first' : undefined}>
      <legend>{legend}</legend>
      {children}
    </fieldset>
  )
}
