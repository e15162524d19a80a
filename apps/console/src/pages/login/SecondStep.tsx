import { login as endpoints } from '@postern/contract/endpoints/login'
import { CodeForm } from '@postern/contract/sign-in/factors'
import type { FactorKind, SecondStep as Step } from '@postern/contract/sign-in/second-step'
import { useEffect, useState } from 'react'
import { ApiError, errorMessage } from '../../api/api-error.ts'
import { useApi } from '../../api/context.ts'
import { askPasskey, hasPasskeys } from '../../api/passkeys.ts'
import { LoginFrame } from '../../components/sign-in/LoginFrame.tsx'
import { useArrival } from '../../components/sign-in/use-arrival.ts'
import { TextField } from '../../forms/fields/TextField.tsx'
import { useFormShell } from '../../forms/shell/use-form-shell.ts'
import { Button } from '../../ui/Button.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { serverUrls } from '../../util/urls.ts'

interface Props {
  username: string
  step: Step['second_factor']
  /** Back to the first step; `why` when the server no longer takes this one. */
  onOver: (why: string | null) => void
}

const LINKS: Readonly<Record<FactorKind, string>> = {
  passkey: 'Use a passkey',
  code: 'Use a code of your app',
  recovery: 'Use a recovery code',
}

/** After the password: what the account asks for besides. */
export function SecondStep({ username, step, onOver }: Props) {
  const kinds = step.kinds.filter((kind) => kind !== 'passkey' || hasPasskeys())
  const [kind, setKind] = useState(kinds[0])
  const [failure, setFailure] = useState<string | null>(null)
  const refuse = (error: unknown) => {
    if (error instanceof ApiError && error.code === 'sign_in_over') onOver(error.message)
    else setFailure(errorMessage(error))
  }
  const way = { username, step, onStart: () => setFailure(null), onFailure: refuse }
  return (
    <LoginFrame
      title="One more step"
      lead={
        <>
          <b dir="auto">{username}</b> signs in with more than a password.
        </>
      }
    >
      <div className="stackf">
        {failure && (
          <Banner kind="bad" role="alert" onClose={() => setFailure(null)}>
            <p>{failure}</p>
          </Banner>
        )}
        {kind === 'passkey' && <PasskeyWay {...way} />}
        {(kind === 'code' || kind === 'recovery') && <CodeWay key={kind} kind={kind} {...way} />}
        {kind === undefined && (
          <Banner kind="warn">
            <p>
              What this account has works at another address of the console only, and no recovery code is
              left.
            </p>
          </Banner>
        )}
      </div>
      <ul className="login-ways">
        {kinds
          .filter((other) => other !== kind)
          .map((other) => (
            <li key={other}>
              <Button
                variant="ghost"
                size="sm"
                onClick={() => {
                  setFailure(null)
                  setKind(other)
                }}
              >
                {LINKS[other]}
              </Button>
            </li>
          ))}
        <li>
          <Button variant="ghost" size="sm" onClick={() => onOver(null)}>
            Start over
          </Button>
        </li>
      </ul>
      <p className="fine">
        <a href={serverUrls.lostFactor()} target="_blank" rel="noreferrer">
          Lost them all?
        </a>
      </p>
    </LoginFrame>
  )
}

interface WayProps extends Pick<Props, 'username' | 'step'> {
  onStart: () => void
  onFailure: (error: unknown) => void
}

function PasskeyWay({ username, step, onStart, onFailure }: WayProps) {
  const api = useApi()
  const arrive = useArrival()
  const [busy, setBusy] = useState(false)
  const go = async () => {
    if (!step.passkey) return
    setBusy(true)
    onStart()
    try {
      const answer = await askPasskey(step.passkey)
      const body = { ticket: step.ticket, answer }
      await arrive(await api.call(endpoints.loginByPasskey, { body }), username)
    } catch (error) {
      console.error('The passkey was not accepted', error)
      onFailure(error)
    }
    setBusy(false)
  }
  return (
    <Button variant="primary" block autoFocus busy={busy} onClick={() => void go()}>
      Use Your Passkey
    </Button>
  )
}

const FIELDS = {
  code: { label: 'Code', hint: 'The six digits that your authenticator app shows now.' },
  recovery: { label: 'Recovery Code', hint: 'Each works once.' },
}

function CodeWay({ kind, username, step, onStart, onFailure }: WayProps & { kind: keyof typeof FIELDS }) {
  const api = useApi()
  const arrive = useArrival()
  const { form, shell } = useFormShell({
    schema: CodeForm,
    values: { ticket: step.ticket, code: '' },
    failure: 'The code was not accepted',
    async send(body) {
      onStart()
      await arrive(await api.call(endpoints.loginByCode, { body }), username)
    },
    describe(error) {
      onFailure(error)
      return { message: errorMessage(error), status: 0 }
    },
  })
  const { control, setFocus } = form
  useEffect(() => setFocus('code'), [setFocus])
  const isDigits = kind === 'code'
  return (
    <form className="stackf" noValidate onSubmit={shell.onSubmit}>
      <TextField
        control={control}
        name="code"
        {...FIELDS[kind]}
        required
        mono
        autoCapitalize="none"
        autoComplete={isDigits ? 'one-time-code' : 'off'}
        inputMode={isDigits ? 'numeric' : 'text'}
      />
      <Button variant="primary" type="submit" block busy={shell.loading}>
        Sign in
      </Button>
    </form>
  )
}
