import { factors as endpoints } from '@postern/contract/endpoints/factors'
import { type AuthenticatorStart, CodeForm } from '@postern/contract/sign-in/factors'
import { useState } from 'react'
import { useApi } from '../../api/context.ts'
import { CopyField } from '../../ui/CopyButton.tsx'
import { QrCode } from '../../ui/data/QrCode.tsx'
import { toast } from '../../ui/feedback/Toasts.tsx'
import { FormDialog } from '../../ui/overlay/FormDialog.tsx'
import { TextField } from '../fields/TextField.tsx'
import { useFormShell } from '../shell/use-form-shell.ts'
import { ConfirmedDialog } from './ConfirmedDialog.tsx'
import { RecoveryCodesDialog } from './RecoveryCodesDialog.tsx'
import './factors.css'

interface Props {
  hasPassword: boolean
  /** @param isAdded whether there is an app now */
  onClose: (isAdded: boolean) => void
}

/** Password, then the secret with a first code of it, then the recovery codes. */
export function AuthenticatorDialog({ hasPassword, onClose }: Props) {
  const api = useApi()
  const [begun, setBegun] = useState<AuthenticatorStart>()
  const [codes, setCodes] = useState<readonly string[]>()
  if (codes) return <RecoveryCodesDialog codes={codes} onClose={() => onClose(true)} />
  if (begun)
    return (
      <SecretDialog
        begun={begun}
        onClose={() => onClose(false)}
        onAdded={(given) => (given ? setCodes(given) : onClose(true))}
      />
    )
  return (
    <ConfirmedDialog
      title="Set Up an Authenticator App"
      description="An app on your phone then shows a new code every half minute, which you enter after your password."
      submitText="Continue"
      hasPassword={hasPassword}
      failure="Setting up an authenticator app could not begin"
      send={async (body) => setBegun(await api.call(endpoints.beginAuthenticator, { body }))}
      onClose={() => onClose(false)}
    />
  )
}

interface SecretProps {
  begun: AuthenticatorStart
  onClose: () => void
  onAdded: (codes: readonly string[] | null) => void
}

function SecretDialog({ begun: { secret, uri, ticket }, onClose, onAdded }: SecretProps) {
  const api = useApi()
  const { form, shell } = useFormShell({
    schema: CodeForm,
    values: { ticket, code: '' },
    failure: 'The authenticator app was not set up',
    async send(body) {
      const { recoveryCodes } = await api.call(endpoints.confirmAuthenticator, { body })
      toast.success('Authenticator app set up', 'It is asked for from the next sign-in on')
      onAdded(recoveryCodes)
    },
  })
  return (
    <FormDialog
      title="Set Up an Authenticator App"
      description="Scan the code with your app, or type the secret into it. Then enter what it shows."
      submitText="Set Up"
      onClose={onClose}
      {...shell}
    >
      <div className="authenticator">
        <QrCode text={uri} label="QR code with the secret" />
        <div>
          <div className="field">
            <span className="label">Secret</span>
            <CopyField label="Secret" value={secret} />
          </div>
          <TextField
            control={form.control}
            name="code"
            label="Code"
            required
            mono
            inputMode="numeric"
            autoComplete="one-time-code"
            hint="The six digits that the app shows now."
          />
        </div>
      </div>
    </FormDialog>
  )
}
