import type { LucideIcon } from 'lucide-react'
import { type Control, type FieldPath, type FieldValues, useController } from 'react-hook-form'
import { Autocomplete } from '../ui/Autocomplete.tsx'
import { Checkbox, type CheckboxProps } from '../ui/Checkbox.tsx'
import { Field, type FieldProps } from '../ui/Field.tsx'
import { NumberInput } from '../ui/NumberInput.tsx'
import { type Option, Select } from '../ui/Select.tsx'
import { TextInput } from '../ui/TextInput.tsx'
import { whenReleased } from './when-released.ts'

/** The fields of the kit, each bound to one value of a form by its dotted path. */
export interface Binding<V extends FieldValues, T> {
  control: Control<V, unknown, T>
  name: FieldPath<V>
}

type Labels = Omit<FieldProps, 'error' | 'name'>

interface TextFieldProps extends Labels {
  placeholder?: string
  mono?: boolean
  disabled?: boolean
  autoFocus?: boolean
}

export function TextField<V extends FieldValues, T>({
  control,
  name,
  ...props
}: Binding<V, T> & TextFieldProps) {
  const { placeholder, mono = false, disabled, autoFocus, ...labels } = props
  const { field, fieldState } = useController({ control, name })
  return (
    <Field {...labels} name={name} error={fieldState.error?.message}>
      {(ids) => (
        <TextInput
          {...ids}
          {...field}
          onBlur={(event) => whenReleased(event.currentTarget, field.onBlur)}
          value={field.value ?? ''}
          placeholder={placeholder}
          mono={mono}
          disabled={disabled}
          data-autofocus={autoFocus}
        />
      )}
    </Field>
  )
}

export function NumberField<V extends FieldValues, T>({
  control,
  name,
  ...props
}: Binding<V, T> & TextFieldProps) {
  const { placeholder, disabled, mono: _, autoFocus: __, ...labels } = props
  const { field, fieldState } = useController({ control, name })
  return (
    <Field {...labels} name={name} error={fieldState.error?.message}>
      {(ids) => (
        <NumberInput
          {...ids}
          {...field}
          onBlur={(event) => whenReleased(event.currentTarget, field.onBlur)}
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
}

export function SelectField<V extends FieldValues, T>({
  control,
  name,
  ...props
}: Binding<V, T> & SelectFieldProps) {
  const { options, mono = false, disabled, ...labels } = props
  const { field, fieldState } = useController({ control, name })
  return (
    <Field {...labels} name={name} error={fieldState.error?.message}>
      {(ids) => (
        <Select
          {...ids}
          {...field}
          onBlur={(event) => whenReleased(event.currentTarget, field.onBlur)}
          value={field.value ?? ''}
          onValueChange={field.onChange}
          options={options}
          mono={mono}
          disabled={disabled}
        />
      )}
    </Field>
  )
}

interface AutocompleteFieldProps extends Labels {
  options: readonly string[]
  icon?: LucideIcon
  placeholder?: string
  disabled?: boolean
}

export function AutocompleteField<V extends FieldValues, T>(props: Binding<V, T> & AutocompleteFieldProps) {
  const { control, name, options, icon, placeholder, disabled, ...labels } = props
  const { field, fieldState } = useController({ control, name })
  return (
    <Field {...labels} name={name} error={fieldState.error?.message}>
      {(ids) => (
        <Autocomplete
          {...ids}
          // While its list is open everything else is hidden from a screen reader, the label too.
          aria-label={typeof labels.label === 'string' ? labels.label : undefined}
          name={field.name}
          ref={field.ref}
          onBlur={(event) => whenReleased(event.currentTarget, field.onBlur)}
          value={field.value ?? ''}
          onValueChange={field.onChange}
          options={options}
          {...(icon ? { icon } : {})}
          placeholder={placeholder}
          disabled={disabled}
        />
      )}
    </Field>
  )
}

type CheckboxFieldProps = Pick<CheckboxProps, 'label' | 'text' | 'disabled'> & {
  /** Beside storing the value: other fields that follow it. */
  onCheckedChange?: (checked: boolean) => void
}

export function CheckboxField<V extends FieldValues, T>({
  control,
  name,
  ...props
}: Binding<V, T> & CheckboxFieldProps) {
  const { field, fieldState } = useController({ control, name })
  return (
    <Checkbox
      {...props}
      name={name}
      ref={field.ref}
      onBlur={(event) => whenReleased(event.currentTarget, field.onBlur)}
      checked={Boolean(field.value)}
      error={fieldState.error?.message}
      onCheckedChange={(checked) => {
        field.onChange(checked)
        props.onCheckedChange?.(checked)
      }}
    />
  )
}
