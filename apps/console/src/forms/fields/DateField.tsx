import type { FieldValues } from 'react-hook-form'
import { DateInput } from '../../ui/input/DateInput.tsx'
import { Field } from '../../ui/input/Field.tsx'
import { today } from '../../util/days.ts'
import { type Binding, type Labels, useBoundField } from './TextField.tsx'

/** A day from today on, as it is typed. */
export function DateField<V extends FieldValues, T>({ control, name, ...labels }: Binding<V, T> & Labels) {
  const { field, note } = useBoundField({ control, name })
  return (
    <Field {...labels} {...note}>
      {(ids) => (
        <DateInput
          {...ids}
          {...field}
          value={field.value ?? ''}
          onValueChange={field.onChange}
          min={today()}
          placeholder="Select a date"
        />
      )}
    </Field>
  )
}
