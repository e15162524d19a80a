import { device as endpoints } from '@postern/contract/endpoints/device'
import { type DeviceRequest, UserCode } from '@postern/contract/sign-in/device'
import { useEffect, useState } from 'react'
import { useLocation } from 'react-router'
import { errorMessage } from '../../api/api-error.ts'
import { useApi } from '../../api/context.ts'
import { useMe } from '../../api/queries.ts'
import { LoginFrame } from '../../components/sign-in/LoginFrame.tsx'
import { TextField } from '../../forms/fields/TextField.tsx'
import { useFormShell } from '../../forms/shell/use-form-shell.ts'
import { Button } from '../../ui/Button.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { serverUrls } from '../../util/urls.ts'
import { DeviceForm } from './DeviceForm.tsx'

type Outcome = 'approved' | 'denied'

/** A person lets the command in that they have started, on whatever machine. */
export function DevicePage() {
  const { hash } = useLocation()
  // Another link in the same tab begins anew.
  return <Steps key={hash} given={hash.slice(1)} />
}

function Steps({ given }: { given: string }) {
  const { data: me, error } = useMe()
  const [asks, setAsks] = useState<DeviceRequest>()
  const [problem, setProblem] = useState<string | null>(null)
  const [outcome, setOutcome] = useState<Outcome>()
  if (outcome) return <Done outcome={outcome} />
  if (asks && me)
    return (
      <DeviceForm
        me={me}
        asks={asks}
        onDone={setOutcome}
        onGone={(why) => {
          setProblem(why)
          setAsks(undefined)
        }}
      />
    )
  const failure = asks && error ? errorMessage(error) : problem
  return <CodeStep given={given} problem={failure} onFound={setAsks} />
}

interface CodeProps {
  /** From the address. Nothing is done with it until the person goes on. */
  given: string
  problem: string | null
  onFound: (asks: DeviceRequest) => void
}

function CodeStep({ given, problem, onFound }: CodeProps) {
  const api = useApi()
  const { form, shell } = useFormShell({
    schema: UserCode,
    values: { code: UserCode.safeParse({ code: given }).success ? given : '' },
    failure: 'The code could not be read',
    async send(body) {
      onFound(await api.call(endpoints.readDevice, { body }))
    },
  })
  const { control, setFocus } = form
  useEffect(() => setFocus('code'), [setFocus])
  const failure = shell.submitError?.message ?? problem
  return (
    <LoginFrame
      title="Sign in a command"
      lead={
        <>
          Enter the code that <code>postern login</code> shows.
        </>
      }
    >
      <form className="stackf" noValidate onSubmit={shell.onSubmit}>
        {failure && (
          <Banner kind="bad" role="alert">
            <p>{failure}</p>
          </Banner>
        )}
        <TextField
          control={control}
          name="code"
          label="Code"
          required
          mono
          placeholder="XXXX-XXXX"
          autoCapitalize="characters"
          autoComplete="off"
        />
        <Button variant="primary" type="submit" block busy={shell.loading}>
          Continue
        </Button>
        <p className="fine">
          Somebody else gave you this code?{' '}
          <a href={serverUrls.commandSignIn()} target="_blank" rel="noreferrer">
            Read this first
          </a>
          .
        </p>
      </form>
    </LoginFrame>
  )
}

const WORDS: Readonly<Record<Outcome, { title: string; lead: string }>> = {
  approved: { title: 'Approved', lead: 'The command signs in within a few seconds.' },
  denied: { title: 'Denied', lead: 'The command was told so, and got nothing.' },
}

function Done({ outcome }: { outcome: Outcome }) {
  const { title, lead } = WORDS[outcome]
  return (
    <LoginFrame title={title} lead={lead}>
      <p role="status">You can close this page.</p>
    </LoginFrame>
  )
}
