import { type ComponentProps, type ReactNode, useId } from 'react'
import { FieldNote } from './Field.tsx'
import './Checkbox.css'

export interface CheckboxProps extends Omit<ComponentProps<'input'>, 'onChange' | 'checked' | 'type'> {
  label: string
  /** One line below the label. */
  text?: ReactNode
  error?: string | undefined
  checked: boolean
  onCheckedChange: (checked: boolean) => void
}

export function Checkbox({ label, text, error, checked, onCheckedChange, ...rest }: CheckboxProps) {
  const noteId = useId()
  return (
    <div>
      <label className="check">
        <input
          {...rest}
          type="checkbox"
          checked={checked}
          aria-invalid={error ? true : undefined}
          aria-describedby={error ? noteId : undefined}
          onChange={(event) => onCheckedChange(event.target.checked)}
        />
        <span>
          <b>{label}</b>
          {text && <span>{text}</span>}
        </span>
      </label>
      <FieldNote id={noteId} error={error} />
    </div>
  )
}
