import { type FieldPath, type FieldValues, useController } from 'react-hook-form'
import { ListField } from '../ui/ListField.tsx'
import { type Binding, TextField } from './bound-fields.tsx'

interface Props {
  label: string
  /** What one row is called: `Allowed IP`. */
  itemLabel: string
  addText: string
  hint?: string
  placeholder?: string
}

/** A list of short texts, like addresses; the value is an array of strings. */
export function TextListField<V extends FieldValues, T>({ control, name, ...props }: Binding<V, T> & Props) {
  const { field, fieldState } = useController({ control, name })
  const rows: string[] = field.value ?? []
  // The error of a list is also the list of its rows' errors.
  const error = Array.isArray(fieldState.error) ? undefined : fieldState.error?.message
  return (
    <ListField
      label={props.label}
      addText={props.addText}
      hint={props.hint}
      count={rows.length}
      error={error}
      removeLabel={(index) => `Remove ${rows[index] || `${props.itemLabel} ${index + 1}`}`}
      onAdd={() => field.onChange([...rows, ''])}
      onRemove={(index) => field.onChange(rows.filter((_, at) => at !== index))}
      renderRow={(index) => (
        <TextField
          control={control}
          // Each row is a value of the form like any other.
          name={`${name}.${index}` as FieldPath<V>}
          label={<span className="sr">{`${props.itemLabel} ${index + 1}`}</span>}
          mono
          {...(props.placeholder ? { placeholder: props.placeholder } : {})}
        />
      )}
    />
  )
}
