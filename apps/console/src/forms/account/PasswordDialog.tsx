import { account as endpoints } from '@postern/contract/endpoints/people'
import { PasswordForm } from '@postern/contract/people/account'
import { useQueryClient } from '@tanstack/react-query'
import { useApi } from '../../api/context.ts'
import { reload } from '../../api/queries.ts'
import { useLeaveGuard } from '../../components/use-leave-guard.ts'
import { toast } from '../../ui/feedback/Toasts.tsx'
import { confirmDiscard } from '../../ui/overlay/Dialog.tsx'
import { FormDialog } from '../../ui/overlay/FormDialog.tsx'
import { TextField } from '../fields/TextField.tsx'
import { useFormShell } from '../shell/use-form-shell.ts'
import { passwordTwice } from './password-twice.ts'

const Schema = passwordTwice(PasswordForm.shape, 'newPassword')

/** A new password for the person who is signed in. */
export function PasswordDialog({ onClose }: { onClose: () => void }) {
  const api = useApi()
  const queries = useQueryClient()
  const { form, shell } = useFormShell({
    schema: Schema,
    values: { password: '', newPassword: '', repeated: '' },
    failure: 'The password was not changed',
    async send({ repeated: _, ...body }) {
      const { ended } = await api.call(endpoints.changePassword, { body })
      toast.success('Password changed successfully!', endedText(ended))
      void reload(queries, { queryKey: [endpoints.listSessions.path] })
      onClose()
    },
  })
  useLeaveGuard(shell.dirty, confirmDiscard)
  const { control } = form
  return (
    <FormDialog
      title="Change Password"
      description="Your other sessions end; this one stays."
      onClose={onClose}
      {...shell}
    >
      <TextField
        control={control}
        name="password"
        label="Present Password"
        required
        type="password"
        autoComplete="current-password"
      />
      <TextField
        control={control}
        name="newPassword"
        label="New Password"
        required
        type="password"
        autoComplete="new-password"
        hint="At least 8 characters. A long one that you use nowhere else is best."
      />
      <TextField
        control={control}
        name="repeated"
        label="The Same Again"
        required
        type="password"
        autoComplete="new-password"
      />
    </FormDialog>
  )
}

function endedText(ended: number): string {
  if (ended === 0) return ''
  return ended === 1 ? 'One other session was ended' : `${ended} other sessions were ended`
}
