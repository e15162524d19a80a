import { type ReactNode, type SubmitEvent, useEffect, useRef } from 'react'
import { Button } from '../Button.tsx'
import { CopyButton } from '../CopyButton.tsx'
import { Banner } from '../feedback/Banner.tsx'
import { FailureNote } from '../feedback/FailureNote.tsx'
import { confirmDiscard, Dialog, DialogBody, DialogFoot } from './Dialog.tsx'
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
  footNote?: ReactNode
  /** The word on its main button, by default `Save`. */
  submitText?: string
  /** Why nothing here can be changed. */
  readOnly?: ReactNode
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
        <DialogBody isText={Boolean(props.readOnly)}>
          {submitError && <SubmitBanner error={submitError} />}
          {props.readOnly && <Banner kind="info">{props.readOnly}</Banner>}
          {props.readOnly ? (
            <fieldset className="all" disabled>
              {children}
            </fieldset>
          ) : (
            children
          )}
        </DialogBody>
        <DialogFoot note={props.footNote}>
          <Button disabled={loading} onClick={cancel}>
            {props.readOnly ? 'Close' : 'Cancel'}
          </Button>
          {!props.readOnly && (
            <Button variant="primary" type="submit" busy={loading}>
              {props.submitText ?? 'Save'}
            </Button>
          )}
        </DialogFoot>
      </form>
    </Dialog>
  )
}

/** A section of a form, with its name in a column of its own. */
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

/** Why a form was not saved, when no visible field shows it. */
export interface SubmitError {
  message: string
  /** 0 when no answer came. */
  status: number
  requestId?: string | undefined
  /** `stale`: someone else has changed the record, which is no mistake. */
  kind?: 'stale'
}

/** The reason, brought into view. */
function SubmitBanner({ error }: { error: SubmitError }) {
  const ref = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new error is brought into view
  useEffect(() => {
    ref.current?.scrollIntoView({ block: 'nearest' })
  }, [error])
  return (
    <div ref={ref}>
      <Banner
        kind={error.kind === 'stale' ? 'info' : 'bad'}
        role="alert"
        action={
          error.requestId && <CopyButton iconOnly size="sm" label="Copy request id" value={error.requestId} />
        }
      >
        <p>
          <b>Not saved. </b>
          {error.message}
        </p>
        <FailureNote failure={error} />
      </Banner>
    </div>
  )
}
