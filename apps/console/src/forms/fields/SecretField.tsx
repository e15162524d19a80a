import type { ReactNode } from 'react'
import { type FieldValues, useController } from 'react-hook-form'
import { Button } from '../../ui/Button.tsx'
import { Field } from '../../ui/input/Field.tsx'
import { type Binding, TextField } from './TextField.tsx'
import './SecretField.css'

interface Props {
  label: string
  hint?: ReactNode
  placeholder?: string
  required?: boolean
  /** Shown while it is typed, because people paste and check it. */
  isShown?: boolean
}

/** A secret: one that is stored (null) is not shown, and stays until it is replaced. */
export function SecretField<V extends FieldValues, T>({
  control,
  name,
  label,
  hint,
  placeholder,
  required,
  isShown,
}: Binding<V, T> & Props) {
  const { field, fieldState } = useController({ control, name })
  if (field.value === null)
    return (
      <Field label={label} error={fieldState.error?.message} hint={hint}>
        {(ids) => (
          <div className="stored-secret">
            <input {...ids} className="input" value="Stored" readOnly disabled />
            <Button onClick={() => field.onChange('')}>Replace</Button>
          </div>
        )}
      </Field>
    )
  return (
    <TextField
      control={control}
      name={name}
      label={label}
      hint={hint}
      mono
      type={isShown ? 'text' : 'password'}
      autoComplete={isShown ? 'off' : 'new-password'}
      {...(placeholder && { placeholder })}
      {...(required && { required })}
    />
  )
}
