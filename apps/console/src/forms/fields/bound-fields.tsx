import { type FieldPath, type FieldValues, useController } from 'react-hook-form'
import { Checkbox, type CheckboxProps } from '../../ui/input/Checkbox.tsx'
import { Field } from '../../ui/input/Field.tsx'
import { ListField } from '../../ui/input/ListField.tsx'
import { type Option, Select } from '../../ui/input/Select.tsx'
import { NumberInput } from '../../ui/input/TextInput.tsx'
import { useTheirs } from '../shell/conflicts.ts'
import { type Binding, type Labels, TextField, type TextFieldProps, useBoundField } from './TextField.tsx'

export function NumberField<V extends FieldValues, T>({
  control,
  name,
  placeholder,
  disabled,
  ...labels
}: Binding<V, T> & TextFieldProps) {
  const { field, note } = useBoundField({ control, name })
  return (
    <Field {...labels} {...note}>
      {(ids) => (
        <NumberInput
          {...ids}
          {...field}
          value={field.value ?? null}
          onValueChange={field.onChange}
          placeholder={placeholder}
          disabled={disabled}
        />
      )}
    </Field>
  )
}

interface SelectFieldProps extends Labels {
  options: readonly Option[]
  mono?: boolean
  disabled?: boolean
  /** Called after the value is stored, to update other fields. */
  onValueChange?: (value: string) => void
}

export function SelectField<V extends FieldValues, T>({
  control,
  name,
  options,
  mono,
  disabled,
  onValueChange,
  ...labels
}: Binding<V, T> & SelectFieldProps) {
  const { field, note } = useBoundField({ control, name })
  return (
    <Field {...labels} {...note}>
      {(ids) => (
        <Select
          {...ids}
          {...field}
          value={field.value ?? ''}
          onValueChange={(value) => {
            field.onChange(value)
            onValueChange?.(value)
          }}
          options={options}
          mono={mono}
          disabled={disabled}
        />
      )}
    </Field>
  )
}

type CheckboxFieldProps = Pick<CheckboxProps, 'label' | 'text' | 'disabled'> & {
  /** Called after the value is stored, to update other fields. */
  onCheckedChange?: (checked: boolean) => void
}

export function CheckboxField<V extends FieldValues, T>({
  control,
  name,
  ...props
}: Binding<V, T> & CheckboxFieldProps) {
  const { field, note } = useBoundField({ control, name })
  const { value, onChange, ...rest } = field
  return (
    <Checkbox
      {...props}
      {...rest}
      checked={Boolean(value)}
      error={note.error}
      onCheckedChange={(checked) => {
        onChange(checked)
        props.onCheckedChange?.(checked)
      }}
    />
  )
}

interface TextListProps {
  label: string
  /** The name of one row: `Allowed IP`. */
  itemLabel: string
  addText: string
  hint?: string
  disabled?: boolean
  placeholder?: string
  /** A pasted list becomes a row for each of its entries. */
  takesMany?: boolean
  /** Asks before a row is removed; gets the values of all rows. */
  mayRemove?: (rows: readonly string[]) => Promise<boolean>
}

/** A list of short texts, like addresses; the value is an array of strings. */
export function TextListField<V extends FieldValues, T>({
  control,
  name,
  itemLabel,
  placeholder,
  takesMany = false,
  mayRemove = async () => true,
  ...props
}: Binding<V, T> & TextListProps) {
  const { field, fieldState } = useController({ control, name })
  const theirs = useTheirs(name)
  const rows: string[] = field.value ?? []
  return (
    <ListField
      {...props}
      count={rows.length}
      // The error of a list may also be the list of its rows' errors.
      error={Array.isArray(fieldState.error) ? undefined : fieldState.error?.message}
      theirs={theirs}
      removeLabel={(index) => `Remove ${rows[index] || `${itemLabel} ${index + 1}`}`}
      onAdd={() => field.onChange([...rows, ''])}
      onRemove={async (index) => {
        if (await mayRemove(rows)) field.onChange(rows.filter((_, at) => at !== index))
      }}
      renderRow={(index) => (
        <TextField
          control={control}
          // Each row is an ordinary value of the form.
          name={`${name}.${index}` as FieldPath<V>}
          label={<span className="sr">{`${itemLabel} ${index + 1}`}</span>}
          mono
          {...(placeholder ? { placeholder } : {})}
          onPaste={(event) => {
            const entries = takesMany ? entriesOf(event.clipboardData.getData('text')) : []
            if (entries.length < 2) return
            event.preventDefault()
            const others = rows.filter((row, at) => at !== index || row.trim() !== '')
            field.onChange([...others, ...entries.filter((entry) => !others.includes(entry))])
          }}
        />
      )}
    />
  )
}

/** Splits what a person pastes from a mail or a table: by commas, semicolons, blanks or lines. */
function entriesOf(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/).filter((entry) => entry !== ''))]
}
