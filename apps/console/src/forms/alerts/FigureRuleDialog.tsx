import {
  AlertFigure,
  type AlertRule,
  FIGURES,
  FigureRuleForm,
  type FigureRuleFormInput,
  LEAST_REQUESTS,
  SUBJECTS,
} from '@postern/contract/alerts/rules'
import { alerts as endpoints } from '@postern/contract/endpoints/alerts'
import { useQueryClient } from '@tanstack/react-query'
import { useWatch } from 'react-hook-form'
import { useApi } from '../../api/context.ts'
import { reload } from '../../api/queries.ts'
import { toast } from '../../ui/feedback/Toasts.tsx'
import { CheckboxField, NumberField, SelectField } from '../fields/bound-fields.tsx'
import { TextField } from '../fields/TextField.tsx'
import { RecordDialog } from '../shell/RecordDialog.tsx'
import { useFormDialog } from '../shell/use-form-dialog.ts'
import { SubjectFields } from './SubjectFields.tsx'

const FIGURE_OPTIONS = Object.entries(FIGURES).map(([value, { text, unit }]) => ({
  value,
  text: unit === '' ? text : `${text}, ${unit}`,
}))
const COMPARISONS = [
  { value: 'above', text: 'Above' },
  { value: 'below', text: 'Below' },
]

const NEW_RULE = {
  name: '',
  enabled: true,
  figure: 'requests',
  comparison: 'above',
  // Typed before it is saved.
  threshold: null as unknown as number,
  minutes: 5,
  nodeId: null,
  serviceId: null,
  domainId: null,
  edgeId: null,
} satisfies FigureRuleFormInput

function ruleValues(rule: AlertRule | undefined): FigureRuleFormInput {
  if (!rule?.figure) return NEW_RULE
  const { name, enabled, figure, comparison, threshold, minutes } = rule
  const { nodeId, serviceId, domainId, edgeId } = rule
  const subject = { nodeId, serviceId, domainId, edgeId }
  return { name, enabled, figure, comparison, threshold: threshold ?? 0, minutes, ...subject }
}

/** A rule of one's own. */
export function FigureRuleDialog({ rule, onClose }: { rule: AlertRule | undefined; onClose: () => void }) {
  const api = useApi()
  const queries = useQueryClient()
  const { form, record, dialog } = useFormDialog({
    schema: FigureRuleForm,
    record: rule,
    valuesOf: ruleValues,
    create: (body) => api.call(endpoints.createFigureRule, { body }),
    update: ({ id }, body) => api.call(endpoints.updateFigureRule, { params: { id }, body }),
    fetch: ({ id }) => api.call(endpoints.getAlertRule, { params: { id } }),
    onSaved: () => {
      void reload(queries, { queryKey: [endpoints.listAlertRules.path] })
      toast.success(rule ? 'Rule updated successfully!' : 'Rule created successfully!')
      onClose()
    },
  })
  const { control, setValue } = form
  const { hasSubject, unit, example, isOverMinutes } = FIGURES[useWatch({ control, name: 'figure' })]
  const clearSubject = (next: string) => {
    const { hasSubject } = FIGURES[AlertFigure.parse(next)]
    if (!hasSubject) for (const subject of SUBJECTS) setValue(subject, null)
  }
  return (
    <RecordDialog
      title={record ? `Alert Rule: ${record.name}` : 'Alert Rule'}
      description="Be told when a figure is above or below a limit"
      onClose={onClose}
      {...dialog}
    >
      <TextField control={control} name="name" label="Name" required placeholder="The shop is busy" />
      <SelectField
        control={control}
        name="figure"
        label="Figure"
        options={FIGURE_OPTIONS}
        onValueChange={clearSubject}
      />
      {hasSubject && <SubjectFields form={form} subject={record?.subject ?? null} />}
      <SelectField control={control} name="comparison" label="Is" options={COMPARISONS} />
      <NumberField
        control={control}
        name="threshold"
        label={unit === '' ? 'Limit' : `Limit (${unit})`}
        required
        placeholder={example}
      />
      <NumberField
        control={control}
        name="minutes"
        label="Minutes"
        required
        hint={
          isOverMinutes
            ? `It is worked out of all requests of so many minutes, if they are ${LEAST_REQUESTS} or more.`
            : 'How long it must be so before anybody is told.'
        }
      />
      <CheckboxField
        control={control}
        name="enabled"
        label="On"
        text="Tell the channels what this rule finds."
      />
    </RecordDialog>
  )
}
