import { type AlertRule, BuiltInRuleForm, THRESHOLDS } from '@postern/contract/alerts/rules'
import { alerts as endpoints } from '@postern/contract/endpoints/alerts'
import { useQueryClient } from '@tanstack/react-query'
import { useApi } from '../../api/context.ts'
import { reload } from '../../api/queries.ts'
import { toast } from '../../ui/feedback/Toasts.tsx'
import { CheckboxField, NumberField } from '../fields/bound-fields.tsx'
import { RecordDialog } from '../shell/RecordDialog.tsx'
import { useFormDialog } from '../shell/use-form-dialog.ts'

const UNITS = { days: 'Days Before It Ends', percent: 'Percent Free' } as const

/** What can be set for a rule that always exists. */
export function BuiltInRuleDialog({ rule, onClose }: { rule: AlertRule; onClose: () => void }) {
  const api = useApi()
  const queries = useQueryClient()
  const update = ({ id }: AlertRule, body: BuiltInRuleForm) =>
    api.call(endpoints.updateBuiltInRule, { params: { id }, body })
  const { form, dialog } = useFormDialog({
    schema: BuiltInRuleForm,
    record: rule,
    valuesOf: (record = rule) => ({
      enabled: record.enabled,
      minutes: record.minutes,
      threshold: record.threshold,
    }),
    create: (body) => update(rule, body),
    update,
    fetch: ({ id }) => api.call(endpoints.getAlertRule, { params: { id } }),
    onSaved: () => {
      void reload(queries, { queryKey: [endpoints.listAlertRules.path] })
      toast.success('Rule updated successfully!')
      onClose()
    },
  })
  const { control } = form
  const limits = rule.kind in THRESHOLDS ? THRESHOLDS[rule.kind as keyof typeof THRESHOLDS] : undefined
  return (
    <RecordDialog
      title={`Alert Rule: ${rule.name}`}
      description="This rule always exists"
      onClose={onClose}
      {...dialog}
    >
      <CheckboxField
        control={control}
        name="enabled"
        label="On"
        text="Tell the channels what this rule finds."
      />
      {limits && <NumberField control={control} name="threshold" label={UNITS[limits.unit]} required />}
      {rule.minutes !== null && (
        <NumberField
          control={control}
          name="minutes"
          label="Minutes"
          required
          hint="How long it must be so before anybody is told."
        />
      )}
    </RecordDialog>
  )
}
