import type { DomainFormInput } from '@postern/contract/domains'
import { type Control, useController } from 'react-hook-form'
import { useEdges } from '../../api/queries.ts'
import { useRules } from '../../api/rules.ts'
import { Checkbox } from '../../ui/input/Checkbox.tsx'
import { Field } from '../../ui/input/Field.tsx'
import { Select } from '../../ui/input/Select.tsx'
import { useTheirs } from '../shell/conflicts.ts'

const OPTIONS = [
  { value: 'all', text: 'All edges, also those added later' },
  { value: 'some', text: 'Chosen edges' },
] as const

interface Props {
  control: Control<DomainFormInput>
}

/** Which edges serve a domain and hold its keys; asked where there are several. */
export function EdgesField({ control }: Props) {
  const isAsked = useRules().edges
  const { field, fieldState } = useController({ control, name: 'edges' })
  const theirs = useTheirs('edges')
  const joined = (useEdges(isAsked).data ?? []).filter(({ isJoined }) => isJoined)
  const chosen = Array.isArray(field.value) ? field.value : null
  if (!isAsked || (joined.length < 2 && chosen === null)) return null
  const toggle = (id: number, isChosen: boolean) =>
    field.onChange(isChosen ? [...(chosen ?? []), id] : (chosen ?? []).filter((each) => each !== id))
  return (
    <>
      <Field
        label="Served By"
        hint="An edge that does not serve it has neither its certificate nor its services."
        error={chosen === null ? undefined : fieldState.error?.message}
        theirs={theirs && { ...theirs, words: 'other edges' }}
      >
        {(ids) => (
          <Select
            {...ids}
            options={OPTIONS}
            value={chosen ? 'some' : 'all'}
            onValueChange={(next) => field.onChange(next === 'all' ? null : joined.map(({ id }) => id))}
          />
        )}
      </Field>
      {chosen && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset inside a dialog is a section with its name beside it
        <div role="group" aria-label="Edges that serve it" className="field">
          {joined.map(({ id, name, place }) => (
            <Checkbox
              key={id}
              label={name}
              text={place}
              checked={chosen.includes(id)}
              onCheckedChange={(isChosen) => toggle(id, isChosen)}
            />
          ))}
        </div>
      )}
    </>
  )
}
