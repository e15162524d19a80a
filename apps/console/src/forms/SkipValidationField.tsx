import type { Control, FieldValues, Path } from 'react-hook-form'
import { CheckboxField } from './bound-fields.tsx'

interface Props<V extends FieldValues> {
  control: Control<V>
  onTicked: () => void
}

export function SkipValidationField<V extends FieldValues>({ control, onTicked }: Props<V>) {
  return (
    <CheckboxField
      control={control}
      // Both forms that may bring a new domain call it so.
      name={'skipValidation' as Path<V>}
      label="Skip Domain Validation"
      text="Saves the name although DNS does not show that it points here."
      onCheckedChange={(checked) => {
        if (checked) onTicked()
      }}
    />
  )
}
