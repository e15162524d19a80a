import type { ChannelFormInput, ChannelSecret } from '@postern/contract/alerts/channels'
import type { ReactNode } from 'react'
import { type Control, useController } from 'react-hook-form'
import { Button } from '../../ui/Button.tsx'
import { Field } from '../../ui/input/Field.tsx'
import { TextField } from '../fields/TextField.tsx'

interface Props {
  control: Control<ChannelFormInput, unknown, unknown>
  name: ChannelSecret
  label: string
  hint?: ReactNode
  placeholder?: string
  required?: boolean
  /** Shown while it is typed, because people paste and check it. */
  isShown?: boolean
}

/** A secret: one that is stored is not shown, and stays until it is replaced. */
export function SecretField({ control, name, label, hint, placeholder, required, isShown }: Props) {
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
