import type { ApiTokenForm, ApiTokenFormInput } from '@postern/contract/api-tokens'
import { device as endpoints } from '@postern/contract/endpoints/device'
import type { Account } from '@postern/contract/sign-in/auth'
import type { DeviceRequest } from '@postern/contract/sign-in/device'
import { useEffect, useRef, useState } from 'react'
import { ApiError, failureOf } from '../../api/api-error.ts'
import { useApi } from '../../api/context.ts'
import { LoginFrame } from '../../components/sign-in/LoginFrame.tsx'
import { ApiTokenFields, newTokenValues } from '../../forms/account/ApiTokenFields.tsx'
import { ApiTokenSchema } from '../../forms/account/api-token-values.ts'
import { useFormShell } from '../../forms/shell/use-form-shell.ts'
import { Button } from '../../ui/Button.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { formatMoment } from '../../util/time.ts'
import './DeviceForm.css'

interface Props {
  me: Account
  asks: DeviceRequest
  onDone: (outcome: 'approved' | 'denied') => void
  /** The command does not wait any more. */
  onGone: (why: string) => void
}

/** What asks to be let in, and what it may do if the person approves. */
export function DeviceForm({ me, asks, onDone, onGone }: Props) {
  const api = useApi()
  const { code, client } = asks
  const { form, shell, setSubmitError } = useFormShell<ApiTokenFormInput, ApiTokenForm>({
    schema: ApiTokenSchema,
    values: newTokenValues(client),
    failure: 'The command was not approved',
    async send(body) {
      await api.call(endpoints.approveDevice, { body: { ...body, code } })
      onDone('approved')
    },
    describe(error) {
      const why = goneMessage(error)
      if (why) onGone(why)
      return undefined
    },
  })
  const [isDenying, setDenying] = useState(false)
  const deny = async () => {
    setDenying(true)
    try {
      await api.call(endpoints.denyDevice, { body: { code } })
      onDone('denied')
    } catch (error) {
      console.error('The command was not denied', error)
      const why = goneMessage(error)
      if (why) return onGone(why)
      setSubmitError(failureOf(error))
      setDenying(false)
    }
  }
  const facts = useRef<HTMLDListElement>(null)
  // What is to be compared comes first, also for a screen reader.
  useEffect(() => facts.current?.focus(), [])
  return (
    <LoginFrame
      title="Let this command in?"
      lead={
        <>
          It asks to act as <b dir="auto">{me.username}</b>, with the rights that you choose.
        </>
      }
    >
      <form className="stackf" noValidate onSubmit={shell.onSubmit}>
        <Facts asks={asks} ref={facts} />
        <Banner kind={asks.isSameNetwork ? 'info' : 'warn'}>
          <p>
            {!asks.isSameNetwork && <b>It asks from another network than yours. </b>}
            Approve only a command that you have just started yourself, and that shows this very code.
          </p>
        </Banner>
        {shell.submitError && (
          <Banner kind="bad" role="alert">
            <p>{shell.submitError.message}</p>
          </Banner>
        )}
        <ApiTokenFields me={me} form={form} />
        <div className="device-acts">
          <Button block busy={isDenying} disabled={shell.loading} onClick={() => void deny()}>
            Deny
          </Button>
          <Button variant="primary" type="submit" block busy={shell.loading} disabled={isDenying}>
            Approve
          </Button>
        </div>
      </form>
    </LoginFrame>
  )
}

function Facts({ asks, ref }: { asks: DeviceRequest; ref: React.Ref<HTMLDListElement> }) {
  return (
    <dl className="device-facts" ref={ref} tabIndex={-1} aria-label="What asks">
      <div>
        <dt>Code</dt>
        <dd className="mono">{asks.code}</dd>
      </div>
      <div>
        <dt>Machine</dt>
        <dd dir="auto">{asks.client}</dd>
      </div>
      <div>
        <dt>From</dt>
        <dd className={asks.address === null ? undefined : 'mono'}>{asks.address ?? 'the server itself'}</dd>
      </div>
      <div>
        <dt>Asked</dt>
        <dd className="tn">{formatMoment(asks.askedAt)}</dd>
      </div>
    </dl>
  )
}

/** Why nothing waits with the code any more, if that is what went wrong. */
function goneMessage(error: unknown): string | undefined {
  return error instanceof ApiError ? error.errors.find(({ field }) => field === 'code')?.message : undefined
}
