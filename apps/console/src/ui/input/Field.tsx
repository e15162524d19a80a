import { clsx } from 'clsx'
import { CircleAlert, Info } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import { Button } from '../Button.tsx'
import './Field.css'

/** The attributes that connect a control with its label, hint and error. */
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
  theirs?: Theirs | undefined
  required?: boolean | undefined
  className?: string
}

/**
 * The value that another person saved meanwhile, as text, with a way to take it; or, once taken, the previous value.
 */
export interface Theirs {
  words: string
  onTake?: () => void
}

/** Label, control, then the error, or the other person's value, or else the hint. */
export function Field({
  children,
  ...props
}: FieldProps & { children: (control: ControlProps) => ReactNode }) {
  const { label, labelEnd, hint, error, theirs, required, className } = props
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
        'aria-describedby': error || theirs || hint ? noteId : undefined,
        'aria-invalid': error ? true : undefined,
        'aria-required': required || undefined,
      })}
      <FieldNote
        id={noteId}
        error={error}
        theirs={theirs?.onTake ? { ...theirs, onTake: () => take(id, theirs) } : theirs}
        hint={hint}
      />
    </div>
  )
}

/** The button disappears, so the focus moves to the control. */
function take(id: string, { onTake }: Theirs): void {
  onTake?.()
  document.getElementById(id)?.focus()
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
  theirs?: Theirs | undefined
  hint?: ReactNode
}

/** The line under a control: the error, or the other person's change, or else the hint. */
export function FieldNote({ id, error, theirs, hint }: NoteProps) {
  if (error)
    return (
      <p className="err" id={id}>
        <CircleAlert className="ic" />
        <span>{error}</span>
      </p>
    )
  if (theirs) return <TheirsNote id={id} theirs={theirs} />
  return hint ? (
    <p className="hint" id={id}>
      {hint}
    </p>
  ) : null
}

/** The button is not part of the control's description. */
function TheirsNote({ id, theirs: { words, onTake } }: { id: string | undefined; theirs: Theirs }) {
  return (
    <div className="theirs">
      <p id={id}>
        <Info className="ic" />
        {onTake ? 'Changed by someone else to' : 'Changed by someone else; it was'} <b>{words}</b>
      </p>
      {onTake && (
        <Button size="sm" aria-label={`Use theirs: ${words}`} onClick={onTake}>
          Use theirs
        </Button>
      )}
    </div>
  )
}
