import { apiTokens } from '@postern/contract/endpoints/api-tokens'
import { identities } from '@postern/contract/endpoints/console-sign-in'
import { factors } from '@postern/contract/endpoints/factors'
import { account as endpoints } from '@postern/contract/endpoints/people'
import { type ChangedPassword, PasswordForm } from '@postern/contract/people/account'
import { useQueryClient } from '@tanstack/react-query'
import type { z } from 'zod/mini'
import { useApi } from '../../api/context.ts'
import { reload, useAnswer } from '../../api/queries.ts'
import { useLeaveGuard } from '../../components/use-leave-guard.ts'
import { toast } from '../../ui/feedback/Toasts.tsx'
import { confirmDiscard } from '../../ui/overlay/Dialog.tsx'
import { FormDialog } from '../../ui/overlay/FormDialog.tsx'
import { CheckboxField } from '../fields/bound-fields.tsx'
import { TextField } from '../fields/TextField.tsx'
import { useFormShell } from '../shell/use-form-shell.ts'
import { NewPasswordFields } from './NewPasswordFields.tsx'
import { passwordTwice } from './password-twice.ts'

/** All that somebody else may have added; its box is there where the person has some. */
const TAKES_AWAY = { disconnect: true, removePasskeys: true }

const Schema = passwordTwice(PasswordForm.shape, 'newPassword')

/** A new password for the person who is signed in. */
export function PasswordDialog({ onClose }: { onClose: () => void }) {
  const api = useApi()
  const queries = useQueryClient()
  const passkeys = useAnswer(factors.getFactors, {}).data?.passkeys
  const connected = useAnswer(identities.listIdentities, {}).data
  const { form, shell } = useFormShell({
    schema: Schema,
    values: { password: '', newPassword: '', repeated: '', endTokens: true, ...TAKES_AWAY },
    failure: 'The password was not changed',
    async send({ repeated: _, ...body }) {
      const counts = await api.call(endpoints.changePassword, { body })
      toast.success('Password changed successfully!', endedText(counts))
      void reload(queries, { queryKey: [endpoints.listSessions.path] })
      void reload(queries, { queryKey: [identities.listIdentities.path] })
      void reload(queries, { queryKey: [factors.getFactors.path] })
      void reload(queries, { queryKey: [apiTokens.listApiTokens.path] })
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
      <NewPasswordFields control={control} name="newPassword" />
      <CheckboxField
        control={control}
        name="endTokens"
        label="End my API tokens too, in case somebody else made one"
      />
      {passkeys !== undefined && passkeys.length > 0 && (
        <CheckboxField
          control={control}
          name="removePasskeys"
          label="Remove my passkeys too, in case somebody else added one"
        />
      )}
      {connected !== undefined && connected.length > 0 && (
        <CheckboxField
          control={control}
          name="disconnect"
          label="Disconnect my providers too, in case somebody else connected one"
        />
      )}
    </FormDialog>
  )
}

function endedText({
  ended,
  endedTokens,
  removedPasskeys,
  disconnected,
}: z.infer<typeof ChangedPassword>): string {
  const parts = [
    countText(ended, 'other session'),
    countText(endedTokens, 'API token'),
    countText(removedPasskeys, 'passkey'),
    countText(disconnected, 'connected account'),
  ].filter(Boolean)
  return parts.length > 0 ? `Ended: ${new Intl.ListFormat('en').format(parts)}` : ''
}

function countText(count: number, noun: string): string {
  return count === 0 ? '' : `${count} ${noun}${count === 1 ? '' : 's'}`
}
