import { Field } from '../../ui/input/Field.tsx'
import { TextInput } from '../../ui/input/TextInput.tsx'

interface Props {
  label: string
  /** An RFC 3339 time; undefined for none. */
  value: string | undefined
  error: string | undefined
  /** Gets an RFC 3339 time in UTC, or ''. */
  onChange: (value: string) => void
}

/** A moment in the browser's time zone. */
export function MomentField({ label, value, error, onChange }: Props) {
  return (
    <Field label={label} error={error}>
      {(control) => (
        <TextInput
          {...control}
          type="datetime-local"
          step={1}
          value={localText(value)}
          onChange={(event) => onChange(isoText(event.target.value))}
        />
      )}
    </Field>
  )
}

/** As the platform's own field has it. */
function localText(iso: string | undefined): string {
  if (iso === undefined) return ''
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return ''
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

function isoText(local: string): string {
  const date = new Date(local)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}
