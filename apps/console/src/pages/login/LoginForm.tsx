import { endpoints } from '@postern/contract/endpoints'
import { MESSAGES } from '@postern/contract/messages'
import { type SubmitEvent, useEffect, useRef, useState } from 'react'
import { useNavigate } from 'react-router'
import { useApi, useSession } from '../../api/context.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Field } from '../../ui/Field.tsx'
import { TextInput } from '../../ui/TextInput.tsx'
import { wordsForLoginError } from './login-error.ts'

/** Username and password; a failure is a closable alert, and nothing typed is lost. */
export function LoginForm() {
  const api = useApi()
  const session = useSession()
  const navigate = useNavigate()
  const [values, setValues] = useState({ username: '', password: '' })
  const [checked, setChecked] = useState(false)
  const [isSending, setSending] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    form.current?.querySelector('input')?.focus()
  }, [])

  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    setChecked(true)
    const empty = values.username === '' ? 'username' : values.password === '' ? 'password' : null
    if (empty) return event.currentTarget.querySelector<HTMLInputElement>(`[name=${empty}]`)?.focus()
    setSending(true)
    setFailure(null)
    try {
      const login = await api.call(endpoints.login, { body: values })
      session.begin(login.token, login.expires_in)
      await navigate(session.takeRedirect(), { replace: true })
    } catch (error) {
      console.error('Signing in failed', error)
      setFailure(wordsForLoginError(error))
    }
    setSending(false)
  }
  const field = (name: keyof typeof values) => ({
    name,
    required: true,
    error: checked && values[name] === '' ? MESSAGES.required : undefined,
  })
  const input = (name: keyof typeof values) => ({
    name,
    value: values[name],
    onChange: (event: { target: HTMLInputElement }) => setValues({ ...values, [name]: event.target.value }),
  })
  return (
    <>
      {failure && (
        <Banner kind="bad" role="alert" onClose={() => setFailure(null)}>
          <p>{failure}</p>
        </Banner>
      )}
      <form className="stackf" noValidate ref={form} onSubmit={submit}>
        <Field label="Username" {...field('username')}>
          {(ids) => (
            <TextInput {...ids} {...input('username')} autoComplete="username" autoCapitalize="none" />
          )}
        </Field>
        <Field label="Password" {...field('password')}>
          {(ids) => (
            <TextInput {...ids} {...input('password')} type="password" autoComplete="current-password" />
          )}
        </Field>
        <Button variant="primary" type="submit" block busy={isSending}>
          Sign in
        </Button>
      </form>
    </>
  )
}
