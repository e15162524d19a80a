import { type FieldError, type FieldValues, get, useController, useFormState } from 'react-hook-form'
import { ListField } from '../ui/ListField.tsx'
import { TextInput } from '../ui/TextInput.tsx'
import type { Binding } from './bound-fields.tsx'
import { whenReleased } from './when-released.ts'

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
  const { field } = useController({ control, name })
  const { errors } = useFormState({ control, name })
  const rows: string[] = field.value ?? []
  const errorAt = (path: string): string | undefined => (get(errors, path) as FieldError | undefined)?.message
  const change = (index: number, text: string) =>
    field.onChange(rows.map((row, at) => (at === index ? text : row)))
  return (
    <ListField
      label={props.label}
      addText={props.addText}
      hint={props.hint}
      name={name}
      count={rows.length}
      error={errorAt(name)}
      errorOf={(index) => errorAt(`${name}.${index}`)}
      removeLabel={(index) => `Remove ${rows[index] || `${props.itemLabel} ${index + 1}`}`}
      onAdd={() => field.onChange([...rows, ''])}
      onRemove={(index) => field.onChange(rows.filter((_, at) => at !== index))}
      renderRow={(index, noteId) => (
        <TextInput
          mono
          aria-label={`${props.itemLabel} ${index + 1}`}
          aria-describedby={noteId}
          aria-invalid={errorAt(`${name}.${index}`) ? true : undefined}
          placeholder={props.placeholder}
          value={rows[index] ?? ''}
          onChange={(event) => change(index, event.target.value)}
          onBlur={(event) => whenReleased(event.currentTarget, field.onBlur)}
        />
      )}
    />
  )
}
