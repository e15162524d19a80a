import type { FieldPath, FieldValues } from 'react-hook-form'
import { type Binding, TextField } from '../fields/TextField.tsx'

/** A new password, and the same again, of a form with `passwordTwice`. */
export function NewPasswordFields<V extends FieldValues, T>({ control, name }: Binding<V, T>) {
  const shared = { control, required: true, type: 'password', autoComplete: 'new-password' } as const
  return (
    <>
      <TextField
        {...shared}
        name={name}
        label="New Password"
        hint="At least 8 characters. A long one that you use nowhere else is best."
      />
      {/* The schema has this field beside the other. */}
      <TextField {...shared} name={'repeated' as FieldPath<V>} label="The Same Again" />
    </>
  )
}
