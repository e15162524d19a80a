import { clsx } from 'clsx'
import { CircleAlert } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import './Field.css'

/** What a control needs so that its label, hint and error belong to it. */
export interface ControlProps {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': boolean | undefined
  'aria-required': boolean | undefined
}

export interface FieldProps {
  label: ReactNode
  /** Behind the label: a button with a tooltip, for example. */
  labelEnd?: ReactNode
  hint?: ReactNode
  error?: string | undefined
  required?: boolean | undefined
  className?: string
}

/** Label above, control, then the error or else the hint. */
export function Field({
  children,
  ...props
}: FieldProps & { children: (control: ControlProps) => ReactNode }) {
  const { label, labelEnd, hint, error, required, className } = props
  const id = useId()
  const noteId = `${id}-note`
  return (
    <div className={clsx('field', className)}>
      <div className="field-label">
        <label htmlFor={id}>
          {label}
          {required && <RequiredMark />}
        </label>
        {labelEnd}
      </div>
      {children({
        id,
        'aria-describedby': error || hint ? noteId : undefined,
        'aria-invalid': error ? true : undefined,
        'aria-required': required || undefined,
      })}
      <FieldNote id={noteId} error={error} hint={hint} />
    </div>
  )
}

function RequiredMark() {
  return (
    <span className="req" aria-hidden="true">
      *
    </span>
  )
}

interface NoteProps {
  id?: string
  error: string | undefined
  hint?: ReactNode
}

/** The line under a control: what is wrong, or else what helps. */
export function FieldNote({ id, error, hint }: NoteProps) {
  if (error)
    return (
      <p className="err" id={id}>
        <CircleAlert className="ic" />
        <span>{error}</span>
      </p>
    )
  return hint ? (
    <p className="hint" id={id}>
      {hint}
    </p>
  ) : null
}
