import { LIMITS } from '@postern/contract/limits'
import type { PersonFormInput } from '@postern/contract/people/people'
import {
  type FieldError,
  get,
  type UseFormReturn,
  useController,
  useFormState,
  useWatch,
} from 'react-hook-form'
import { DomainIdPicker, NodePicker } from '../../components/pickers/pickers.tsx'
import { Field } from '../../ui/input/Field.tsx'
import { ListField } from '../../ui/input/ListField.tsx'
import { Select } from '../../ui/input/Select.tsx'
import { useTheirs } from '../shell/conflicts.ts'

const OPTIONS = [
  { value: 'all', text: 'The whole installation' },
  { value: 'some', text: 'Chosen nodes and domains' },
] as const

/** No record has it: nothing was picked yet. */
const UNPICKED = 0

type Form<Out> = UseFormReturn<PersonFormInput, unknown, Out>

/** What a person is limited to. */
export function ReachFields<Out>({ form }: { form: Form<Out> }) {
  const { control, setValue } = form
  const reach = useWatch({ control, name: 'reach' })
  const theirs = useTheirs('reach')
  const change = (next: string) =>
    setValue('reach', next === 'all' ? null : { nodes: [UNPICKED], domains: [] }, { shouldDirty: true })
  return (
    <>
      <Field label="Sees" theirs={theirs && { ...theirs, words: 'other nodes and domains' }}>
        {(ids) => <Select {...ids} options={OPTIONS} value={reach ? 'some' : 'all'} onValueChange={change} />}
      </Field>
      {reach && (
        <>
          <Picks
            {...{ form, name: 'nodes', label: 'Nodes', item: 'Node', Picker: NodePicker }}
            hint="With their services and access tokens."
          />
          <Picks
            {...{ form, name: 'domains', label: 'Domains', item: 'Domain', Picker: DomainIdPicker }}
            hint="They see these, and services of the nodes can be published there."
          />
        </>
      )}
    </>
  )
}

interface PicksProps<Out> {
  form: Form<Out>
  name: 'nodes' | 'domains'
  label: string
  item: string
  hint: string
  Picker: typeof NodePicker
}

/** A list of records, by their ids. */
function Picks<Out>({ form: { control }, name, label, item, hint, Picker }: PicksProps<Out>) {
  const { field } = useController({ control, name: `reach.${name}` })
  const { errors } = useFormState({ control })
  const ids = Array.isArray(field.value) ? field.value : []
  // Of the list, or of its rows by their places.
  const error: (FieldError & { [at: number]: FieldError }) | undefined = get(errors, `reach.${name}`)
  return (
    <ListField
      label={label}
      addText={`Add ${item}`}
      count={ids.length}
      canAdd={ids.length < LIMITS.reachEntries}
      hint={hint}
      error={error?.message}
      removeLabel={(index) => `Remove ${item.toLowerCase()} ${index + 1}`}
      onAdd={() => field.onChange([...ids, UNPICKED])}
      onRemove={(index) => field.onChange(ids.filter((_, at) => at !== index))}
      renderRow={(index) => (
        <Field label={<span className="sr">{`${item} ${index + 1}`}</span>} error={error?.[index]?.message}>
          {(control) => (
            <Picker
              {...control}
              label={`${item} ${index + 1}`}
              placeholder="Find by name"
              value={ids[index] ? String(ids[index]) : ''}
              onPick={(id) => field.onChange(ids.map((each, at) => (at === index ? Number(id) : each)))}
            />
          )}
        </Field>
      )}
    />
  )
}
