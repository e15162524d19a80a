import { invites as endpoints } from '@postern/contract/endpoints/people'
import { server } from '@postern/contract/endpoints/server'
import { newPassword, type OpenInvite } from '@postern/contract/people/people'
import { useEffect } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { useApi, useSession } from '../../api/context.ts'
import { ROLES } from '../../components/people/roles.ts'
import { useArrival } from '../../components/sign-in/use-arrival.ts'
import { passwordTwice } from '../../forms/account/password-twice.ts'
import { TextField } from '../../forms/fields/TextField.tsx'
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
}

/** The password of the person for whom the link is. */
export function AcceptForm({ token, invite, onDead, onSet }: Props) {
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
      if (error instanceof ApiError && error.status === 404) onDead()
      return undefined
    },
  })
  const { control, setFocus } = form
  useEffect(() => setFocus('password'), [setFocus])
  return (
    <form className="stackf" noValidate onSubmit={shell.onSubmit}>
      <p>
        {isReset
          ? 'Choose a new password. The old one and all your sessions end.'
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
      <TextField
        control={control}
        name="password"
        label="New Password"
        required
        type="password"
        autoComplete="new-password"
        hint="At least 8 characters. A long one that you use nowhere else is best."
      />
      <TextField
        control={control}
        name="repeated"
        label="The Same Again"
        required
        type="password"
        autoComplete="new-password"
      />
      <Button variant="primary" type="submit" block busy={shell.loading}>
        Sign in
      </Button>
    </form>
  )
}

const article = (word: string) => `${/^[AEIO]/.test(word) ? 'an' : 'a'} ${word.toLowerCase()}`
