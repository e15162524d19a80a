import { factors as endpoints } from '@postern/contract/endpoints/factors'
import { type Passkey, PasskeyNameForm } from '@postern/contract/sign-in/factors'
import { useApi } from '../../api/context.ts'
import { useLeaveGuard } from '../../components/use-leave-guard.ts'
import { toast } from '../../ui/feedback/Toasts.tsx'
import { confirmDiscard } from '../../ui/overlay/Dialog.tsx'
import { FormDialog } from '../../ui/overlay/FormDialog.tsx'
import { TextField } from '../fields/TextField.tsx'
import { useFormShell } from '../shell/use-form-shell.ts'

export function RenamePasskeyDialog({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const api = useApi()
  const { form, shell } = useFormShell({
    schema: PasskeyNameForm,
    values: { name: passkey.name },
    failure: 'The passkey was not renamed',
    async send(body) {
      await api.call(endpoints.renamePasskey, { params: { id: passkey.id }, body })
      toast.success('Passkey renamed', body.name)
      onClose()
    },
  })
  useLeaveGuard(shell.dirty, confirmDiscard)
  return (
    <FormDialog
      size="s"
      title="Rename Passkey"
      description="Only this list shows the name."
      onClose={onClose}
      {...shell}
    >
      <TextField control={form.control} name="name" label="Name" required />
    </FormDialog>
  )
}
