import { useState } from 'react'
import type { Control } from 'react-hook-form'
import { Field } from '../../ui/input/Field.tsx'
import { Select } from '../../ui/input/Select.tsx'
import { TextInput } from '../../ui/input/TextInput.tsx'
import { formatMoment } from '../../util/time.ts'
import type { ServiceValues } from '../service/service-values.ts'
import { useBoundField } from './TextField.tsx'

const TIMES = [
  { value: '1h', text: '1 hour' },
  { value: '8h', text: '8 hours' },
  { value: '1d', text: '1 day' },
  { value: '7d', text: '7 days' },
  { value: '30d', text: '30 days' },
]
const NEVER = { value: 'never', text: 'Never' }
const CUSTOM = { value: 'custom', text: 'Another time …' }
const KEPT = 'kept'
/** With which another time starts. */
const USUAL = '2h'

interface Props<T> {
  control: Control<ServiceValues, unknown, T>
  /** When the service ends so far. */
  kept: string | null
}

/** How long a service lives: one of the usual times, one that is typed, or until the end that it has. */
export function EndsField<T>({ control, kept }: Props<T>) {
  const { field: ttl, note: ofTtl } = useBoundField({ control, name: 'ttl' })
  const { field: end, note: ofEnd } = useBoundField({ control, name: 'endsAt' })
  const [isTyped, setTyped] = useState(
    () => Boolean(ttl.value) && !TIMES.some(({ value }) => value === ttl.value),
  )
  const was = end.value || kept
  const choose = (value: string) => {
    setTyped(value === CUSTOM.value)
    const isTime = TIMES.some((time) => time.value === value)
    ttl.onChange(isTime ? value : value === CUSTOM.value ? USUAL : '')
    end.onChange(isTime || value === KEPT ? (kept ?? '') : '')
  }
  const choices = [NEVER, ...(was ? [{ value: KEPT, text: formatMoment(was) }] : []), ...TIMES, CUSTOM]
  const chosen = isTyped ? CUSTOM.value : String(ttl.value || (end.value ? KEPT : NEVER.value))
  const note = ofTtl.error ? ofTtl : ofEnd
  return (
    <>
      <Field
        label="Ends After"
        hint={chosen === NEVER.value ? 'It stays until it is deleted.' : 'Then the service is deleted.'}
        {...(isTyped ? {} : note)}
      >
        {(ids) => <Select {...ids} options={choices} value={chosen} onValueChange={choose} />}
      </Field>
      {isTyped && (
        <Field label="Time Until It Ends" hint="Like 90m, 8h or 7d; empty for never." {...note}>
          {(ids) => <TextInput {...ids} {...ttl} value={ttl.value ?? ''} />}
        </Field>
      )}
    </>
  )
}
