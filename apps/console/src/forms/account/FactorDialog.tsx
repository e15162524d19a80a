import { factors as endpoints } from '@postern/contract/endpoints/factors'
import type { Factors, Passkey } from '@postern/contract/sign-in/factors'
import { lazy, useState } from 'react'
import { useApi } from '../../api/context.ts'
import { toast } from '../../ui/feedback/Toasts.tsx'

const AuthenticatorDialog = lazy(async () => ({
  default: (await import('./AuthenticatorDialog.tsx')).AuthenticatorDialog,
}))
const PasskeyDialog = lazy(async () => ({
  default: (await import('./PasskeyDialog.tsx')).PasskeyDialog,
}))
const RenamePasskeyDialog = lazy(async () => ({
  default: (await import('./RenamePasskeyDialog.tsx')).RenamePasskeyDialog,
}))
const ConfirmedDialog = lazy(async () => ({
  default: (await import('./ConfirmedDialog.tsx')).ConfirmedDialog,
}))
const RecoveryCodesDialog = lazy(async () => ({
  default: (await import('./RecoveryCodesDialog.tsx')).RecoveryCodesDialog,
}))

/** What a person wants to do to their second factors. */
export type FactorAct =
  | { kind: 'set up app' | 'remove app' | 'add passkey' | 'new codes' }
  | { kind: 'rename passkey' | 'remove passkey'; passkey: Passkey }

interface Props {
  act: FactorAct
  factors: Factors
  onClose: () => void
}

/** The dialogs of each. */
export function FactorDialog({ act, factors, onClose }: Props) {
  const { hasPassword, passkeyHost } = factors
  switch (act.kind) {
    case 'set up app':
      return <AuthenticatorDialog hasPassword={hasPassword} onClose={onClose} />
    case 'add passkey':
      return <PasskeyDialog hasPassword={hasPassword} host={passkeyHost ?? ''} onClose={onClose} />
    case 'rename passkey':
      return <RenamePasskeyDialog passkey={act.passkey} onClose={onClose} />
    case 'new codes':
      return <NewCodes hasPassword={hasPassword} onClose={onClose} />
    case 'remove app':
    case 'remove passkey':
      return <Removal act={act} factors={factors} onClose={onClose} />
  }
}

function NewCodes({ hasPassword, onClose }: { hasPassword: boolean; onClose: () => void }) {
  const api = useApi()
  const [codes, setCodes] = useState<readonly string[]>()
  if (codes) return <RecoveryCodesDialog codes={codes} onClose={onClose} />
  return (
    <ConfirmedDialog
      title="Make New Recovery Codes"
      description="The ten codes that you have now work no longer."
      submitText="Make New Codes"
      hasPassword={hasPassword}
      failure="No recovery codes were made"
      send={async (body) => setCodes((await api.call(endpoints.makeRecoveryCodes, { body })).recoveryCodes)}
      onClose={onClose}
    />
  )
}

function Removal({ act, factors, onClose }: Props) {
  const api = useApi()
  const { hasPassword, passkeys, authenticator } = factors
  const passkey = 'passkey' in act ? act.passkey : undefined
  const isLast = passkeys.length + (authenticator ? 1 : 0) === 1
  const subject = passkey?.name ?? 'Authenticator app'
  return (
    <ConfirmedDialog
      title={passkey ? 'Remove Passkey' : 'Remove Authenticator App'}
      description={
        <>
          <b>{subject}</b> no longer signs you in.
          {isLast && ' It is your last second factor: your password alone is enough then.'}
        </>
      }
      submitText="Remove"
      hasPassword={hasPassword}
      failure="The second factor was not removed"
      send={async (body) => {
        if (passkey) await api.call(endpoints.removePasskey, { params: { id: passkey.id }, body })
        else await api.call(endpoints.removeAuthenticator, { body })
        toast.success('Second factor removed', subject)
        onClose()
      }}
      onClose={onClose}
    />
  )
}
