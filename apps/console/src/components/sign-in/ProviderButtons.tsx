import { login as endpoints } from '@postern/contract/endpoints/login'
import { server } from '@postern/contract/endpoints/server'
import type { SignInWays } from '@postern/contract/sign-in/provider-login'
import { LogIn } from 'lucide-react'
import { useEffect, useState } from 'react'
import { errorMessage } from '../../api/api-error.ts'
import { useApi, useSession } from '../../api/context.ts'
import { isHome, leaveForProvider } from '../../api/provider-sign-in.ts'
import { Button } from '../../ui/Button.tsx'
import './ProviderButtons.css'

interface Props {
  ways: SignInWays
  /** The token of a link, whose account the sign-in is connected with. */
  invite?: string
  /** The path of this page at the console's own address. */
  path: string
  onFailure: (message: string | null) => void
}

/** A way in by each provider. They send people back to one address only, to which the buttons lead from any other. */
export function ProviderButtons({ ways, invite, path, onFailure }: Props) {
  const { busy, go } = useWayToProvider(invite, onFailure)
  const isHere = isHome(ways)
  return (
    <div className="provider-buttons">
      {ways.providers.map(({ id, name }) =>
        isHere ? (
          <Button
            key={id}
            block
            icon={LogIn}
            busy={busy === id}
            disabled={busy !== null}
            onClick={() => void go(id)}
          >
            <Words name={name} />
          </Button>
        ) : (
          <a key={id} className="btn block" href={ways.origin + path}>
            <LogIn className="ic" />
            <Words name={name} />
          </a>
        ),
      )}
      {!isHere && (
        <p className="fine">
          {ways.providers.length === 1 ? 'This sign-in works' : 'These sign-ins work'} at{' '}
          <span className="mono">{ways.origin}</span>
        </p>
      )}
    </div>
  )
}

const Words = ({ name }: { name: string }) => (
  <span title={name}>
    Continue with <bdi>{name}</bdi>
  </span>
)

/** `busy` is the provider to which the browser is on its way. */
function useWayToProvider(invite: string | undefined, onFailure: Props['onFailure']) {
  const api = useApi()
  const session = useSession()
  const [busy, setBusy] = useState<number | null>(null)
  useEffect(() => {
    // Back may restore the page as it was left.
    const onShow = ({ persisted }: PageTransitionEvent) => persisted && setBusy(null)
    addEventListener('pageshow', onShow)
    return () => removeEventListener('pageshow', onShow)
  }, [])
  const go = async (provider: number) => {
    setBusy(provider)
    onFailure(null)
    try {
      if (invite !== undefined && session.token() !== null) {
        await api.call(server.logout, {}).catch(() => {})
        session.end(true)
      }
      session.ensureKey()
      const body = { provider, ...(invite !== undefined && { invite }) }
      const { address } = await api.call(endpoints.beginProviderLogin, { body })
      leaveForProvider(address)
    } catch (error) {
      console.error('The way to the provider failed', error)
      onFailure(errorMessage(error))
      setBusy(null)
    }
  }
  return { busy, go }
}
