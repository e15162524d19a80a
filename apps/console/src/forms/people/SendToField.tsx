import type { Control, FieldPath, FieldValues } from 'react-hook-form'
import { TextField } from '../fields/TextField.tsx'

/** Where a link for a person is sent by e-mail. */
export function SendToField<V extends FieldValues, T>({
  control,
  name,
}: {
  control: Control<V, unknown, T>
  name: FieldPath<V>
}) {
  return (
    <TextField
      control={control}
      name={name}
      label="Send the link to"
      type="email"
      autoComplete="off"
      autoCapitalize="none"
      placeholder="ann@example.com"
      hint="By e-mail, if you like. You see the link in any case."
    />
  )
}
