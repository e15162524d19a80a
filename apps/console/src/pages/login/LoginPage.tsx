import { server } from '@postern/contract/endpoints/server'
import { LoginForm as LoginSchema } from '@postern/contract/sign-in/auth'
import { useEffect, useState } from 'react'
import { ApiError, errorMessage } from '../../api/api-error.ts'
import { useApi, useSession } from '../../api/context.ts'
import { leaveFor, SignInFrame } from '../../components/sign-in/SignInFrame.tsx'
import { TextField } from '../../forms/fields/TextField.tsx'
import { useFormShell } from '../../forms/shell/use-form-shell.ts'
import { dropDraft, findDraft } from '../../stores/draft.ts'
import { Button } from '../../ui/Button.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { serverUrls } from '../../util/urls.ts'

export function LoginPage() {
  return (
    <SignInFrame title="Sign in">
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
    </SignInFrame>
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

/** The text of the alert. Only an answer of the server may blame the credentials. */
export function loginErrorMessage(error: unknown): string {
  if (!(error instanceof ApiError) || error.status === 0 || error.status >= 500) return errorMessage(error)
  return error.status === 429 ? 'Too many attempts, try again later' : 'Invalid Credentials'
}
