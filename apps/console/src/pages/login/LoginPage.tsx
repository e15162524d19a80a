import { login as endpoints } from '@postern/contract/endpoints/login'
import { LoginForm as LoginSchema } from '@postern/contract/sign-in/auth'
import type { SecondStep as Step } from '@postern/contract/sign-in/second-step'
import { lazy, Suspense, useEffect, useState } from 'react'
import { ApiError, errorMessage } from '../../api/api-error.ts'
import { useApi, useSession } from '../../api/context.ts'
import { hasPasskeys } from '../../api/passkeys.ts'
import { useSignInWays } from '../../api/provider-sign-in.ts'
import { LoginFrame } from '../../components/sign-in/LoginFrame.tsx'
import { ProviderButtons } from '../../components/sign-in/lazy-provider-buttons.ts'
import { useArrival } from '../../components/sign-in/use-arrival.ts'
import { TextField } from '../../forms/fields/TextField.tsx'
import { useFormShell } from '../../forms/shell/use-form-shell.ts'
import { hasTicket } from '../../stores/brought-ticket.ts'
import { findDraft } from '../../stores/draft.ts'
import { Button } from '../../ui/Button.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { serverUrls, urls } from '../../util/urls.ts'
import { PasskeyButton } from './PasskeyButton.tsx'

// Only accounts with a second factor need it.
const loadSecondStep = () => import('./SecondStep.tsx')
const SecondStep = lazy(async () => ({ default: (await loadSecondStep()).SecondStep }))
const ProviderReturn = lazy(async () => ({ default: (await import('./ProviderReturn.tsx')).ProviderReturn }))

/** What came of the first step. */
interface Begun {
  username: string
  step: Step['second_factor']
}

export function LoginPage() {
  const [begun, setBegun] = useState<Begun>()
  const [failure, setFailure] = useState<string | null>(null)
  // Back from a provider.
  const [isReturning, setReturning] = useState(hasTicket)
  const startOver = (why: string | null) => {
    setBegun(undefined)
    setReturning(false)
    setFailure(why)
  }
  const goOn = async (next: Begun) => {
    await loadSecondStep()
    setBegun(next)
  }
  if (begun)
    return (
      <Suspense>
        <SecondStep {...begun} onOver={startOver} />
      </Suspense>
    )
  return (
    <LoginFrame
      title="Sign in"
      lead={
        <>
          The console of <span className="mono">{location.host}</span>
        </>
      }
    >
      {isReturning ? (
        <Suspense>
          <ProviderReturn onFailure={startOver} onSecondStep={goOn} />
        </Suspense>
      ) : (
        <FirstStep failure={failure} onFailure={setFailure} onSecondStep={goOn} />
      )}
    </LoginFrame>
  )
}

/** The form, and what stands below it. */
function FirstStep(props: FormProps) {
  const ways = useSignInWays()
  const { onFailure } = props
  return (
    <>
      <LoginForm {...props} />
      <div className="login-others">
        {hasPasskeys() && <PasskeyButton onFailure={onFailure} />}
        {ways && (
          <Suspense>
            <ProviderButtons ways={ways} path={urls.login()} onFailure={onFailure} />
          </Suspense>
        )}
      </div>
      <p className="fine">
        <a href={serverUrls.lostPassword()} target="_blank" rel="noreferrer">
          Forgot your password?
        </a>
      </p>
      <p className="fine">
        By signing in you agree to the{' '}
        <a href={serverUrls.terms()} target="_blank" rel="noreferrer">
          terms of service
        </a>
        .
      </p>
    </>
  )
}

interface FormProps {
  /** Why signing in failed; null: it did not. */
  failure: string | null
  onFailure: (message: string | null) => void
  onSecondStep: (begun: Begun) => Promise<void>
}

/** Username and password; a failure is a closable alert, and the typed text stays. */
function LoginForm({ failure, onFailure, onSecondStep }: FormProps) {
  const api = useApi()
  const session = useSession()
  const arrive = useArrival()
  const { form, shell } = useFormShell({
    schema: LoginSchema,
    values: { username: '', password: '' },
    failure: 'Signing in failed',
    async send(body) {
      onFailure(null)
      session.ensureKey()
      const login = await api.call(endpoints.login, { body })
      if ('token' in login) return await arrive(login, body.username)
      await onSecondStep({ username: body.username, step: login.second_factor })
    },
    describe(error) {
      const message = loginErrorMessage(error)
      onFailure(message)
      return { message, status: 0 }
    },
  })
  const [isEnded] = useState(session.takeEnded)
  const { control, setFocus } = form
  useEffect(() => setFocus('username'), [setFocus])
  return (
    <form className="stackf" noValidate onSubmit={shell.onSubmit}>
      {isEnded && !failure && (
        <Banner kind="info" role="status">
          <p>
            Your session has ended. Sign in to pick up where you left off.
            {findDraft() && ' Your unsaved changes are kept.'}
          </p>
        </Banner>
      )}
      {failure && (
        <Banner kind="bad" role="alert" onClose={() => onFailure(null)}>
          <p>{failure}</p>
        </Banner>
      )}
      <TextField
        control={control}
        name="username"
        label="Username"
        required
        autoComplete="username"
        autoCapitalize="none"
      />
      <TextField
        control={control}
        name="password"
        label="Password"
        required
        type="password"
        autoComplete="current-password"
      />
      <Button variant="primary" type="submit" block busy={shell.loading}>
        Sign in
      </Button>
    </form>
  )
}

/** The text of the alert. Only an answer of the server may blame the credentials; with right ones it may say more. */
export function loginErrorMessage(error: unknown): string {
  if (!(error instanceof ApiError) || error.status === 0 || error.status >= 500) return errorMessage(error)
  if (error.code === 'password_off') return error.message
  return error.status === 429 ? 'Too many attempts, try again later' : 'Invalid Credentials'
}
