import { account as endpoints } from '@postern/contract/endpoints/people'
import { server } from '@postern/contract/endpoints/server'
import { AccountForm } from '@postern/contract/people/account'
import { useQueryClient } from '@tanstack/react-query'
import { useApi } from '../../api/context.ts'
import { keyOf } from '../../api/queries.ts'
import { useLeaveGuard } from '../../components/use-leave-guard.ts'
import { toast } from '../../ui/feedback/Toasts.tsx'
import { confirmDiscard } from '../../ui/overlay/Dialog.tsx'
import { FormDialog } from '../../ui/overlay/FormDialog.tsx'
import { TextField } from '../fields/TextField.tsx'
import { useFormShell } from '../shell/use-form-shell.ts'

/** The name with which a person signs in, and which the history shows. */
export function NameDialog({ username, onClose }: { username: string; onClose: () => void }) {
  const api = useApi()
  const queries = useQueryClient()
  const { form, shell } = useFormShell({
    schema: AccountForm,
    values: { username },
    failure: 'The name was not changed',
    async send(body) {
      queries.setQueryData(keyOf(server.me, {}), await api.call(endpoints.updateAccount, { body }))
      toast.success('Name changed successfully!', body.username)
      onClose()
    },
  })
  useLeaveGuard(shell.dirty, confirmDiscard)
  return (
    <FormDialog
      title="Change Name"
      description="You sign in with it from now on. What you did before keeps the old name in the history."
      onClose={onClose}
      {...shell}
    >
      <TextField
        control={form.control}
        name="username"
        label="Name"
        required
        autoComplete="username"
        autoCapitalize="none"
      />
    </FormDialog>
  )
}
