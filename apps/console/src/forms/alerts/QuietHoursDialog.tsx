import { QuietHours } from '@postern/contract/alerts/quiet-hours'
import { alerts as endpoints } from '@postern/contract/endpoints/alerts'
import { useQueryClient } from '@tanstack/react-query'
import { useWatch } from 'react-hook-form'
import { useApi } from '../../api/context.ts'
import { reload } from '../../api/queries.ts'
import { useLeaveGuard } from '../../components/use-leave-guard.ts'
import { toast } from '../../ui/feedback/Toasts.tsx'
import { confirmDiscard } from '../../ui/overlay/Dialog.tsx'
import { FormDialog } from '../../ui/overlay/FormDialog.tsx'
import { CheckboxField } from '../fields/bound-fields.tsx'
import { TextField } from '../fields/TextField.tsx'
import { useFormShell } from '../shell/use-form-shell.ts'

/** When alerts wait. The first time it proposes the time zone of the browser. */
export function QuietHoursDialog({ hours, onClose }: { hours: QuietHours; onClose: () => void }) {
  const api = useApi()
  const queries = useQueryClient()
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  const { form, shell } = useFormShell({
    schema: QuietHours,
    values: hours.enabled ? hours : { ...hours, timeZone },
    failure: 'The quiet hours were not saved',
    async send(body) {
      await api.call(endpoints.setQuietHours, { body })
      void reload(queries, { queryKey: [endpoints.getQuietHours.path] })
      toast.success('Quiet hours updated successfully!')
      onClose()
    },
  })
  useLeaveGuard(shell.dirty, confirmDiscard)
  const { control } = form
  const isOn = useWatch({ control, name: 'enabled' })
  return (
    <FormDialog
      title="Quiet Hours"
      description="Alerts wait until they are over; what is still so is sent then"
      onClose={onClose}
      {...shell}
    >
      <CheckboxField
        control={control}
        name="enabled"
        label="On"
        text="A lost edge and a sign-in from a new network are told all the same."
      />
      {isOn && (
        <>
          <TextField control={control} name="from" label="From" required mono placeholder="22:00" />
          <TextField control={control} name="to" label="To" required mono placeholder="07:00" />
          <TextField control={control} name="timeZone" label="Time Zone" required placeholder={timeZone} />
        </>
      )}
    </FormDialog>
  )
}
