import { factors as endpoints } from '@postern/contract/endpoints/factors'
import type { Control, FieldValues, Path } from 'react-hook-form'
import { useAnswer } from '../../api/queries.ts'
import { TextField } from '../fields/TextField.tsx'

interface Props<V extends FieldValues, T> {
  control: Control<V, unknown, T>
  name: Path<V>
}

/** The account's own password; nothing for one that has none, which confirms by having just signed in. */
export function ConfirmPasswordField<V extends FieldValues, T>({ control, name }: Props<V, T>) {
  const factors = useAnswer(endpoints.getFactors, {})
  if (factors.data?.hasPassword === false) return null
  return (
    <TextField
      control={control}
      name={name}
      label="Your Password"
      required
      type="password"
      autoComplete="current-password"
    />
  )
}
