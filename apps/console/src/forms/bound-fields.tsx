import type { ComponentProps } from 'react'
import { type Control, type FieldPath, type FieldValues, useController } from 'react-hook-form'
import { Checkbox, type CheckboxProps } from '../ui/Checkbox.tsx'
import { Field, type FieldProps } from '../ui/Field.tsx'
import { type Option, Select } from '../ui/Select.tsx'
import { NumberInput, TextInput } from '../ui/TextInput.tsx'
import { whenReleased } from './when-released.ts'

/** The fields of the kit, each bound to one value of a form by its dotted path. */
export interface Binding<V extends FieldValues, T> {
  control: Control<V, unknown, T>
  name: FieldPath<V>
}

type Labels = Omit<FieldProps, 'error'>

interface TextFieldProps extends Labels {
  placeholder?: string
  mono?: boolean
  disabled?: boolean
}

type OwnInputProps = Pick<ComponentProps<'input'>, 'type' | 'autoComplete' | 'autoCapitalize'>

export function TextField<V extends FieldValues, T>({
  control,
  name,
  ...props
}: Binding<V, T> & TextFieldProps & OwnInputProps) {
  const { placeholder, mono = false, disabled, type, autoComplete, autoCapitalize, ...labels } = props
  const { field, fieldState } = useController({ control, name })
  return (
    <Field {...labels} error={fieldState.error?.message}>
      {(ids) => (
        <TextInput
          {...ids}
          {...field}
          onBlur={(event) => whenReleased(event.currentTarget, field.onBlur)}
          value={field.value ?? ''}
          placeholder={placeholder}
          mono={mono}
          disabled={disabled}
          type={type}
          autoComplete={autoComplete}
          autoCapitalize={autoCapitalize}
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
  const { placeholder, disabled, mono: _, ...labels } = props
  const { field, fieldState } = useController({ control, name })
  return (
    <Field {...labels} error={fieldState.error?.message}>
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
    <Field {...labels} error={fieldState.error?.message}>
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
