import { Confirmation } from '@postern/contract/sign-in/factors'
import type { ReactNode } from 'react'
import { FormDialog } from '../../ui/overlay/FormDialog.tsx'
import { TextField } from '../fields/TextField.tsx'
import { useFormShell } from '../shell/use-form-shell.ts'

interface Props {
  title: string
  /** What will happen. */
  description: ReactNode
  submitText: string
  hasPassword: boolean
  failure: string
  send: (confirmation: Confirmation) => Promise<void>
  onClose: () => void
}

/** A change of how a person signs in, which needs the password. */
export function ConfirmedDialog({ hasPassword, failure, send, ...dialog }: Props) {
  const { form, shell } = useFormShell({
    schema: Confirmation,
    values: { password: null as string | null },
    failure,
    send,
  })
  return (
    <FormDialog size="s" {...dialog} {...shell} dirty={false}>
      {hasPassword && (
        <TextField
          control={form.control}
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
