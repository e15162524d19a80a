import { RECORD_KINDS } from '@postern/contract/history/history'
import { useState } from 'react'
import { MomentField } from '../../components/filters/MomentField.tsx'
import { NamedField } from '../../components/filters/NamedField.tsx'
import { kindText } from '../../components/history/words.ts'
import { Button } from '../../ui/Button.tsx'
import { Field } from '../../ui/input/Field.tsx'
import { Select } from '../../ui/input/Select.tsx'
import { TextInput } from '../../ui/input/TextInput.tsx'
import { Dialog, DialogBody, DialogFoot } from '../../ui/overlay/Dialog.tsx'
import { type FilterKey, type Filters, findErrors } from './filters.ts'

const KINDS = [
  { value: '', text: 'Everything' },
  ...RECORD_KINDS.map((value) => ({ value, text: kindText(value) })),
]

interface Props {
  filters: Filters
  /** What the filtered node is called, where that is known. */
  node: string | undefined
  onSave: (filters: Filters) => void
  onClose: () => void
}

/** All filters at once. */
export function HistoryFilterDialog({ filters, node, onSave, onClose }: Props) {
  const [draft, setDraft] = useState(filters)
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({})
  const put = (key: FilterKey) => (value: string) =>
    setDraft((before) => ({ ...before, [key]: value || undefined }))
  const save = () => {
    // Another kind of record is not the one that was asked for.
    const next = draft.kind === filters.kind ? draft : { ...draft, id: undefined }
    const found = {
      ...findErrors(next),
      ...(next.node && !/^\d+$/.test(next.node) && { node: 'Choose one of the suggestions' }),
    }
    setErrors(found)
    if (Object.keys(found).length === 0) onSave(next)
  }
  return (
    <Dialog title="Filter History" description="Shows the changes that match all of these." onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          save()
        }}
      >
        <DialogBody className="filter-fields">
          <Field label="Changed" error={errors.kind}>
            {(control) => (
              <Select {...control} options={KINDS} value={draft.kind ?? ''} onValueChange={put('kind')} />
            )}
          </Field>
          <Field label="By" hint="The whole name" error={errors.actor}>
            {(control) => (
              <TextInput
                {...control}
                value={draft.actor ?? ''}
                onChange={(event) => put('actor')(event.target.value)}
              />
            )}
          </Field>
          <NamedField kind="node" name={node} id={draft.node} error={errors.node} onChange={put('node')} />
          <NamedField
            kind="domain"
            name={draft.domain}
            id={draft.domain}
            error={errors.domain}
            onChange={put('domain')}
          />
          <MomentField label="From" value={draft.from} error={errors.from} onChange={put('from')} />
          <MomentField label="To" value={draft.to} error={errors.to} onChange={put('to')} />
        </DialogBody>
        <DialogFoot>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit">
            Show Changes
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  )
}
