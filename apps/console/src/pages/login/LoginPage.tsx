import { server } from '@postern/contract/endpoints/server'
import { LoginForm as LoginSchema } from '@postern/contract/sign-in/auth'
import { useEffect, useState } from 'react'
import { ApiError, errorMessage } from '../../api/api-error.ts'
import { useApi, useSession } from '../../api/context.ts'
import { Glyph } from '../../components/Glyph.tsx'
import { ThemeToggle } from '../../components/ThemeToggle.tsx'
import { TextField } from '../../forms/fields/TextField.tsx'
import { useFormShell } from '../../forms/shell/use-form-shell.ts'
import { markArrival } from '../../stores/arrival.ts'
import { dropDraft, findDraft } from '../../stores/draft.ts'
import { Button } from '../../ui/Button.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { serverUrls } from '../../util/urls.ts'
import { LoginArt } from './LoginArt.tsx'
import './LoginPage.css'

export function LoginPage() {
  return (
    <main className="login">
      <title>Sign in · Postern</title>
      <LoginArt />
      <div className="login-side">
        <div className="login-box">
          <p className="login-brand">
            <Glyph />
            <span className="word">Postern</span>
          </p>
          <h1>Sign in</h1>
          <p className="lead">
            The console of <span className="mono">{location.host}</span>
          </p>
          <LoginForm />
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
        </div>
        <div className="login-foot">
          <ThemeToggle />
        </div>
      </div>
    </main>
  )
}

/** Username and password; a failure is a closable alert, and the typed text stays. */
function LoginForm() {
  const api = useApi()
  const session = useSession()
  const { form, shell, setSubmitError } = useFormShell({
    schema: LoginSchema,
    values: { username: '', password: '' },
    failure: 'Signing in failed',
    async send(body) {
      session.ensureKey()
      const login = await api.call(server.login, { body })
      if (!('token' in login)) throw new Error('a second factor is wanted')
      if (session.wasSomeoneElse(body.username)) dropDraft()
      session.begin(login.token, login.expires_in, body.username)
      await leaveFor(session.takeRedirect())
    },
    describe: (error) => ({ message: loginErrorMessage(error), status: 0 }),
  })
  const [isEnded] = useState(session.takeEnded)
  const { control, setFocus } = form
  useEffect(() => setFocus('username'), [setFocus])
  return (
    <form className="stackf" noValidate onSubmit={shell.onSubmit}>
      {isEnded && !shell.submitError && (
        <Banner kind="info" role="status">
          <p>
            Your session has ended. Sign in to pick up where you left off.
            {findDraft() && ' Your unsaved changes are kept.'}
          </p>
        </Banner>
      )}
      {shell.submitError && (
        <Banner kind="bad" role="alert" onClose={() => setSubmitError(null)}>
          <p>{shell.submitError.message}</p>
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

/** Never settles: the button stays busy until the next page takes over. */
function leaveFor(path: string): Promise<never> {
  markArrival()
  location.replace(path)
  return new Promise(() => {})
}

/** The text of the alert. Only an answer of the server may blame the credentials. */
export function loginErrorMessage(error: unknown): string {
  if (!(error instanceof ApiError) || error.status === 0 || error.status >= 500) return errorMessage(error)
  return error.status === 429 ? 'Too many attempts, try again later' : 'Invalid Credentials'
}
