import { type FigureRuleFormInput, SUBJECTS, type Subject } from '@postern/contract/alerts/rules'
import { useState } from 'react'
import { type UseFormReturn, useWatch } from 'react-hook-form'
import { useEdges } from '../../api/queries.ts'
import { DomainIdPicker, NodePicker, ServicePicker } from '../../components/pickers/pickers.tsx'
import { type ControlProps, Field } from '../../ui/input/Field.tsx'
import { Select } from '../../ui/input/Select.tsx'

const OPTIONS = [
  { value: 'all', text: 'All services' },
  { value: 'serviceId', text: 'One service' },
  { value: 'nodeId', text: 'The services of a node' },
  { value: 'domainId', text: 'The services of a domain' },
  { value: 'edgeId', text: 'An edge' },
] as const satisfies readonly { value: 'all' | Subject; text: string }[]

const LABELS = { serviceId: 'Service', nodeId: 'Node', domainId: 'Domain', edgeId: 'Edge' } as const

/** No record has it: nothing was picked yet. */
const UNPICKED = 0

interface Props<Out> {
  form: UseFormReturn<FigureRuleFormInput, unknown, Out>
  /** The name of the stored one. */
  subject: string | null
}

/** Whose figure it is. */
export function SubjectFields<Out>({ form: { control, setValue, formState }, subject }: Props<Out>) {
  const ids = useWatch({ control, name: SUBJECTS })
  const [of, setOf] = useState<'all' | Subject>(SUBJECTS.find((_, index) => ids[index]) ?? 'all')
  const change = (next: string) => {
    const chosen = SUBJECTS.find((each) => each === next)
    setOf(chosen ?? 'all')
    for (const each of SUBJECTS) setValue(each, each === chosen ? UNPICKED : null, { shouldDirty: true })
  }
  const picked = of === 'all' ? null : ids[SUBJECTS.indexOf(of)]
  return (
    <>
      <Field label="Of">
        {(field) => <Select {...field} options={OPTIONS} value={of} onValueChange={change} />}
      </Field>
      {of !== 'all' && (
        <Field key={of} label={LABELS[of]} error={formState.errors[of]?.message} required>
          {(field) => (
            <SubjectPicker
              {...{ field, of, subject }}
              value={picked ? String(picked) : ''}
              onPick={(id) =>
                setValue(of, id === '' ? UNPICKED : Number(id), { shouldDirty: true, shouldValidate: true })
              }
            />
          )}
        </Field>
      )}
    </>
  )
}

interface PickerProps {
  of: Subject
  field: ControlProps
  value: string
  subject: string | null
  onPick: (id: string) => void
}

function SubjectPicker({ of, field, subject, ...picked }: PickerProps) {
  const props = { ...field, ...picked, label: LABELS[of], placeholder: 'Find by name' }
  if (of === 'nodeId') return <NodePicker {...props} />
  if (of === 'serviceId') return <ServicePicker {...props} name={subject} />
  if (of === 'domainId') return <DomainIdPicker {...props} />
  return <EdgeSelect {...field} {...picked} />
}

function EdgeSelect({ value, onPick, ...field }: ControlProps & Pick<PickerProps, 'value' | 'onPick'>) {
  const edges = useEdges(true).data ?? []
  const options = [
    ...(value === '' ? [{ value: '', text: 'Choose an edge' }] : []),
    ...edges.map(({ id, name }) => ({ value: String(id), text: name })),
  ]
  return <Select {...field} options={options} value={value} onValueChange={onPick} />
}
