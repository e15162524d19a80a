import { invites as endpoints } from '@postern/contract/endpoints/people'
import { server } from '@postern/contract/endpoints/server'
import { newPassword, type OpenInvite } from '@postern/contract/people/people'
import { useEffect } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { useApi, useSession } from '../../api/context.ts'
import { ROLES } from '../../components/people/roles.ts'
import { useArrival } from '../../components/sign-in/use-arrival.ts'
import { NewPasswordFields } from '../../forms/account/NewPasswordFields.tsx'
import { passwordTwice } from '../../forms/account/password-twice.ts'
import { useFormShell } from '../../forms/shell/use-form-shell.ts'
import { Button } from '../../ui/Button.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { Field } from '../../ui/input/Field.tsx'
import { TextInput } from '../../ui/input/TextInput.tsx'

const Schema = passwordTwice({ password: newPassword }, 'password')

interface Props {
  token: string
  invite: OpenInvite
  onDead: () => void
  /** The password is set, and the second factor is asked for at the sign-in. */
  onSet: () => void
  /** This person signs in by a provider only; `why` is in the server's words. */
  onPasswordOff: (why: string) => void
}

/** The password of the person for whom the link is. */
export function AcceptForm({ token, invite, onDead, onSet, onPasswordOff }: Props) {
  const { username, isReset, role } = invite
  const api = useApi()
  const session = useSession()
  const arrive = useArrival()
  const { form, shell } = useFormShell({
    schema: Schema,
    values: { password: '', repeated: '' },
    failure: 'The link was not accepted',
    async send({ password }) {
      if (session.token() !== null) await api.call(server.logout, {}).catch(() => {})
      session.ensureKey()
      const { login } = await api.call(endpoints.acceptInvite, { body: { token, password } })
      if (login === null) return onSet()
      await arrive(login, username)
    },
    describe(error) {
      if (!(error instanceof ApiError)) return undefined
      if (error.status === 404) onDead()
      if (error.code === 'password_off') onPasswordOff(error.message)
      return undefined
    },
  })
  const { control, setFocus } = form
  useEffect(() => setFocus('password'), [setFocus])
  return (
    <form className="stackf" noValidate onSubmit={shell.onSubmit}>
      <p>
        {isReset
          ? 'Choose a new password. The old one ends, with all your sessions, API tokens and connected accounts.'
          : `You were invited as ${article(ROLES[role].text)}. Choose a password to sign in with.`}
      </p>
      {session.token() !== null && (
        <Banner kind="info" role="status">
          <p>Somebody is signed in here. That session ends, and yours begins.</p>
        </Banner>
      )}
      {shell.submitError && (
        <Banner kind="bad" role="alert">
          <p>{shell.submitError.message}</p>
        </Banner>
      )}
      <Field label="Username">
        {(ids) => <TextInput {...ids} value={username} readOnly autoComplete="username" />}
      </Field>
      <NewPasswordFields control={control} name="password" />
      <Button variant="primary" type="submit" block busy={shell.loading}>
        Sign in
      </Button>
    </form>
  )
}

const article = (word: string) => `${/^[AEIO]/.test(word) ? 'an' : 'a'} ${word.toLowerCase()}`
