import { type ComponentProps, type FocusEvent, useRef } from 'react'
import { type Control, type FieldPath, type FieldValues, useController } from 'react-hook-form'
import { Field, type FieldProps } from '../../ui/input/Field.tsx'
import { TextInput } from '../../ui/input/TextInput.tsx'
import { useTheirs } from '../shell/conflicts.ts'

/** One value of a form by its dotted path; every field of a form is bound to one. */
export interface Binding<V extends FieldValues, T> {
  control: Control<V, unknown, T>
  name: FieldPath<V>
}

export type Labels = Omit<FieldProps, 'error' | 'theirs'>

export interface TextFieldProps extends Labels {
  placeholder?: string
  mono?: boolean
  disabled?: boolean
}

type OwnInputProps = Pick<
  ComponentProps<'input'>,
  'type' | 'inputMode' | 'autoComplete' | 'autoCapitalize' | 'onPaste'
>

export function TextField<V extends FieldValues, T>({
  control,
  name,
  ...props
}: Binding<V, T> & TextFieldProps & OwnInputProps) {
  const { label, labelEnd, hint, required, className, ...input } = props
  const { field, note } = useBoundField({ control, name })
  return (
    <Field {...{ label, labelEnd, hint, required, className, ...note }}>
      {(ids) => <TextInput {...ids} {...field} {...input} value={field.value ?? ''} />}
    </Field>
  )
}

/** What a control needs for a value: `field` for its props, and `note` for the text below it. */
export function useBoundField<V extends FieldValues, T, N extends FieldPath<V>>({
  control,
  name,
}: Binding<V, T> & { name: N }) {
  const { field, fieldState } = useController({ control, name })
  const { disabled: _, ...props } = field
  const wasUsed = useRef(false)
  const onChange = (value: unknown) => {
    wasUsed.current = true
    field.onChange(value)
  }
  const onBlur = (event: FocusEvent) => {
    // A field that was only tabbed through shows no error yet.
    if (wasUsed.current) whenReleased(event.currentTarget, field.onBlur)
  }
  const theirs = useTheirs(name)
  return { field: { ...props, onChange, onBlur }, note: { error: fieldState.error?.message, theirs } }
}

/**
 * Runs once no mouse button is pressed. Otherwise leaving a field by a click would show its error, and move the page,
 * between press and release, so that the click would miss its target. It does not run when the click removed the
 * field, whose value must not come back.
 */
function whenReleased(field: Element, run: () => void): void {
  if (document.querySelector(':active') === null) {
    run()
    return
  }
  const end = new AbortController()
  const finish = () => {
    end.abort()
    // The click itself comes right after the release.
    setTimeout(() => {
      if (field.isConnected) run()
    })
  }
  window.addEventListener('pointerup', finish, { signal: end.signal })
  window.addEventListener('pointercancel', finish, { signal: end.signal })
}
