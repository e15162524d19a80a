import { identities as endpoints } from '@postern/contract/endpoints/console-sign-in'
import { factors } from '@postern/contract/endpoints/factors'
import type { Identity, SignInWays } from '@postern/contract/sign-in/provider-login'
import { useQueryClient } from '@tanstack/react-query'
import { useApi, useSession } from '../../api/context.ts'
import { leaveForProvider } from '../../api/provider-sign-in.ts'
import { keyOf, useAnswer } from '../../api/queries.ts'
import { toast } from '../../ui/feedback/Toasts.tsx'
import { ConfirmedDialog } from './ConfirmedDialog.tsx'

/** What a person wants to do to the accounts with which they sign in. */
export type ProviderAct =
  | { kind: 'connect'; provider: SignInWays['providers'][number] }
  | { kind: 'disconnect'; identity: Identity }

interface Props {
  act: ProviderAct
  onClose: () => void
}

/** Asks for the password before how a person signs in changes. */
export function ProviderActDialog({ act, onClose }: Props) {
  const { data } = useAnswer(factors.getFactors, {})
  if (!data) return null
  const props = { hasPassword: data.hasPassword, onClose }
  return act.kind === 'connect' ? (
    <Connect {...props} provider={act.provider} />
  ) : (
    <Disconnect {...props} identity={act.identity} />
  )
}

interface PartProps {
  hasPassword: boolean
  onClose: () => void
}

function Connect({ provider, ...props }: PartProps & { provider: SignInWays['providers'][number] }) {
  const api = useApi()
  const session = useSession()
  return (
    <ConfirmedDialog
      {...props}
      title={`Connect ${provider.name}`}
      description={
        <>
          <b dir="auto">{provider.name}</b> asks you to sign in there, and sends you back here. From then on
          you can sign in to the console with it.
        </>
      }
      submitText="Continue"
      failure="The provider was not connected"
      send={async ({ password }) => {
        session.ensureKey()
        const body = { provider: provider.id, password }
        leaveForProvider((await api.call(endpoints.beginIdentity, { body })).address)
        // The button stays busy until the browser has left, or has come back to this page as it was.
        await new Promise((resolve) => addEventListener('pageshow', resolve, { once: true }))
        props.onClose()
      }}
    />
  )
}

function Disconnect({ identity, ...props }: PartProps & { identity: Identity }) {
  const api = useApi()
  const queries = useQueryClient()
  const { id, provider, email } = identity
  return (
    <ConfirmedDialog
      {...props}
      title={`Disconnect ${provider.name}`}
      description={
        <>{email === null ? 'The account there' : <b className="mono">{email}</b>} no longer signs you in.</>
      }
      submitText="Disconnect"
      failure="The account was not disconnected"
      send={async (body) => {
        const list = await api.call(endpoints.removeIdentity, { params: { id }, body })
        queries.setQueryData(keyOf(endpoints.listIdentities, {}), list)
        toast.success('Account disconnected successfully!', provider.name)
        props.onClose()
      }}
    />
  )
}
