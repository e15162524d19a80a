import { login as endpoints } from '@postern/contract/endpoints/login'
import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import { errorMessage } from '../../api/api-error.ts'
import { useApi, useSession } from '../../api/context.ts'
import { askPasskey } from '../../api/passkeys.ts'
import { useArrival } from '../../components/sign-in/use-arrival.ts'
import { Button } from '../../ui/Button.tsx'

/** Signs in without name and password, by a passkey of any account. */
export function PasskeyButton({ onFailure }: { onFailure: (message: string | null) => void }) {
  const api = useApi()
  const session = useSession()
  const arrive = useArrival()
  const [busy, setBusy] = useState(false)
  const signIn = async () => {
    setBusy(true)
    onFailure(null)
    try {
      session.ensureKey()
      const { ticket, passkey } = await api.call(endpoints.beginPasskeyLogin, {})
      const answer = await askPasskey(passkey)
      const login = await api.call(endpoints.loginByPasskey, { body: { ticket, answer } })
      await arrive(login, login.username)
    } catch (error) {
      console.error('Signing in by a passkey failed', error)
      onFailure(errorMessage(error))
    }
    setBusy(false)
  }
  return (
    <Button block icon={KeyRound} busy={busy} onClick={() => void signIn()}>
      Sign in with a passkey
    </Button>
  )
}
