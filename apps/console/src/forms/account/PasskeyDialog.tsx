import { factors as endpoints } from '@postern/contract/endpoints/factors'
import { Confirmation, PasskeyNameForm } from '@postern/contract/sign-in/factors'
import { useState } from 'react'
import * as z from 'zod/mini'
import { useApi } from '../../api/context.ts'
import { makePasskey } from '../../api/passkeys.ts'
import { useLeaveGuard } from '../../components/use-leave-guard.ts'
import { toast } from '../../ui/feedback/Toasts.tsx'
import { confirmDiscard } from '../../ui/overlay/Dialog.tsx'
import { FormDialog } from '../../ui/overlay/FormDialog.tsx'
import { TextField } from '../fields/TextField.tsx'
import { useFormShell } from '../shell/use-form-shell.ts'
import { RecoveryCodesDialog } from './RecoveryCodesDialog.tsx'

interface Props {
  hasPassword: boolean
  /** The name at which it will work. */
  host: string
  onClose: (isAdded: boolean) => void
}

/** A name and the password, then the browser's own dialog, then the recovery codes if it is the first factor. */
export function PasskeyDialog(props: Props) {
  const [codes, setCodes] = useState<readonly string[]>()
  if (codes) return <RecoveryCodesDialog codes={codes} onClose={() => props.onClose(true)} />
  return <PasskeyForm {...props} onAdded={(given) => (given ? setCodes(given) : props.onClose(true))} />
}

const Form = z.extend(PasskeyNameForm, Confirmation.shape)

interface FormProps extends Props {
  onAdded: (codes: readonly string[] | null) => void
}

function PasskeyForm({ hasPassword, host, onClose, onAdded }: FormProps) {
  const api = useApi()
  const { form, shell } = useFormShell({
    schema: Form,
    values: { name: '', password: '' as string | null },
    failure: 'The passkey was not added',
    async send({ name, password }) {
      const { ticket, passkey } = await api.call(endpoints.beginPasskey, { body: { password } })
      const body = { ticket, name, passkey: await makePasskey(passkey) }
      const { recoveryCodes } = await api.call(endpoints.addPasskey, { body })
      toast.success('Passkey added', name)
      onAdded(recoveryCodes)
    },
  })
  useLeaveGuard(shell.dirty, confirmDiscard)
  const { control } = form
  return (
    <FormDialog
      title="Add a Passkey"
      description={
        <>
          Your device or security key signs you in, with its fingerprint, face or PIN. It works at{' '}
          <b>{host}</b> only.
        </>
      }
      submitText="Continue"
      onClose={() => onClose(false)}
      {...shell}
    >
      <TextField
        control={control}
        name="name"
        label="Name"
        required
        placeholder="Laptop, or blue security key"
        hint="So that you recognise it in the list."
      />
      {hasPassword && (
        <TextField
          control={control}
          name="password"
          label="Your Password"
          required
          type="password"
          autoComplete="current-password"
        />
      )}
    </FormDialog>
  )
}
