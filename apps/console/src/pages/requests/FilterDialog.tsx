import { REASON_CODES, REASONS } from '@postern/contract/requests/reasons'
import { type ReactNode, useState } from 'react'
import { MomentField } from '../../components/filters/MomentField.tsx'
import { NamedField } from '../../components/filters/NamedField.tsx'
import { Button } from '../../ui/Button.tsx'
import { type ControlProps, Field } from '../../ui/input/Field.tsx'
import { type Option, Select } from '../../ui/input/Select.tsx'
import { TextInput } from '../../ui/input/TextInput.tsx'
import { Dialog, DialogBody, DialogFoot } from '../../ui/overlay/Dialog.tsx'
import { type FilterKey, type Filters, findErrors, type Names, SPANS } from './filters.ts'

interface Props {
  filters: Filters
  names: Names
  onSave: (filters: Filters) => void
  onClose: () => void
}

const TIMES = [
  { value: '', text: 'Any time' },
  ...Object.entries(SPANS).map(([value, { text }]) => ({ value, text })),
  { value: 'between', text: 'From and to' },
]
const TYPES = [
  { value: '', text: 'All' },
  { value: 'http', text: 'HTTP' },
  { value: 'tcp', text: 'TCP' },
  { value: 'udp', text: 'UDP' },
]
const ALL_REASONS = [
  { value: '', text: 'All requests' },
  { value: 'any', text: 'Any reason' },
  ...REASON_CODES.map((value) => ({ value, text: REASONS[value] })),
]

/** All filters at once. */
export function FilterDialog({ filters, names, onSave, onClose }: Props) {
  const [draft, setDraft] = useState(filters)
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({})
  const [time, setTime] = useState(filters.last ?? (filters.from || filters.to ? 'between' : ''))
  const put = (key: FilterKey) => (value: string) =>
    setDraft((before) => ({ ...before, [key]: value || undefined }))
  const field = (
    key: FilterKey,
    label: string,
    render: (control: ControlProps) => ReactNode,
    hint?: string,
  ) => (
    <Field label={label} hint={hint} error={errors[key]}>
      {render}
    </Field>
  )
  const text = (key: FilterKey, label: string, hint?: string, mono = true) =>
    field(
      key,
      label,
      (control) => (
        <TextInput
          {...control}
          mono={mono}
          value={draft[key] ?? ''}
          onChange={(event) => put(key)(event.target.value)}
        />
      ),
      hint,
    )
  const moment = (key: 'from' | 'to', label: string) => (
    <MomentField label={label} value={draft[key]} error={errors[key]} onChange={put(key)} />
  )
  const named = (kind: 'service' | 'node' | 'domain', name: string | undefined) => (
    <NamedField kind={kind} name={name} error={errors[kind]} id={draft[kind]} onChange={put(kind)} />
  )
  const choice = (key: 'type' | 'reason', label: string, options: readonly Option[]) =>
    field(key, label, (control) => (
      <Select {...control} options={options} value={draft[key] ?? ''} onValueChange={put(key)} />
    ))
  const save = () => {
    const { last: _, from, to, ...rest } = draft
    const isSpan = SPANS[time] !== undefined
    const next: Filters = {
      ...rest,
      ...(isSpan && { last: time }),
      ...(time === 'between' && { from, to }),
    }
    const found = { ...findErrors(next), ...errorsOfNames(next) }
    setErrors(found)
    if (Object.keys(found).length === 0) onSave(next)
  }
  return (
    <Dialog
      title="Filter Requests"
      description="Shows the requests that match all of these."
      size="m"
      onClose={onClose}
    >
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          save()
        }}
      >
        <DialogBody className="filter-fields">
          {field('last', 'Time', (control) => (
            <Select {...control} options={TIMES} value={time} onValueChange={setTime} />
          ))}
          {choice('type', 'Type', TYPES)}
          {time === 'between' && moment('from', 'From')}
          {time === 'between' && moment('to', 'To')}
          {named('service', names.service)}
          {named('node', names.node)}
          {named('domain', draft.domain)}
          {text('status', 'Status', 'Like 404, or 5xx for all of its class')}
          {text('method', 'Method', 'Like GET')}
          {text('path', 'Path', 'Any part of it')}
          {text('source', 'Visitor', 'An address like 203.0.113.5, or a network like 203.0.113.0/24')}
          {text('person', 'Person', 'The whole email', false)}
          {choice('reason', 'Reason', ALL_REASONS)}
          {text('minTime', 'Slower than', 'Milliseconds in all')}
        </DialogBody>
        <DialogFoot>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit">
            Show Requests
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  )
}

/** A name that nothing has is no id. */
function errorsOfNames({ service, node }: Filters): Record<string, string> {
  const words = 'Choose one of the suggestions'
  const isWrong = (id: string | undefined) => id !== undefined && !/^\d+$/.test(id)
  return { ...(isWrong(service) && { service: words }), ...(isWrong(node) && { node: words }) }
}
