import { why as endpoints } from '@postern/contract/endpoints/why'
import { WhyForm } from '@postern/contract/why/why'
import { useMutation } from '@tanstack/react-query'
import { Search } from 'lucide-react'
import { useEffect, useEffectEvent, useRef } from 'react'
import { useSearchParams } from 'react-router'
import { failureOf } from '../../api/api-error.ts'
import { useApi } from '../../api/context.ts'
import { useAnswer } from '../../api/queries.ts'
import { Page } from '../../components/Page.tsx'
import { TextField } from '../../forms/fields/TextField.tsx'
import { useFormShell } from '../../forms/shell/use-form-shell.ts'
import { Button } from '../../ui/Button.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { WhyResult } from './WhyResult.tsx'
import './WhyPage.css'

/** Where visitors of an address stop, from its name to the program's answer. */
export function WhyPage() {
  const [params] = useSearchParams()
  const address = params.get('url') ?? ''
  return (
    <Page title="Why?" className="way" crumbs={[{ text: 'Why?' }]}>
      <header className="head">
        <div>
          <h1>Why?</h1>
          <p className="lead">
            Follows a visitor from the name to the program's answer, and shows where they are stopped.
          </p>
        </div>
      </header>
      <Question address={address} />
    </Page>
  )
}

const EVERY_MS = 400

function Question({ address }: { address: string }) {
  const [, setParams] = useSearchParams()
  const { begin, data } = useWhy()
  /** What the address of the page says already. */
  const shown = useRef('')
  const { form, shell, setSubmitError } = useFormShell({
    schema: WhyForm,
    values: { address, visitor: '' },
    failure: 'The way could not be looked at',
    async send() {
      // As it was typed: the server reads it once more.
      const { address, visitor } = form.getValues()
      shown.current = (await begin.mutateAsync({ address, visitor: visitor ?? '' })).address
      setParams({ url: shown.current }, { replace: true, preventScrollReset: true })
    },
  })
  /** A link leads here with another address. */
  const follow = useEffectEvent(async (address: string) => {
    if (address === '' || address === shown.current) return
    shown.current = address
    form.reset({ address, visitor: '' })
    setSubmitError(null)
    if (!(await form.trigger('address'))) return
    begin.mutate({ address, visitor: '' }, { onError: (error) => setSubmitError(failureOf(error)) })
  })
  useEffect(() => void follow(address), [address])
  const isBusy = begin.isPending || shell.loading || data?.state === 'looking'
  return (
    <>
      <div className="card">
        <form className="card-body ask" noValidate onSubmit={shell.onSubmit}>
          {shell.submitError && (
            <Banner kind="bad" role="alert">
              <p>{shell.submitError.message}</p>
            </Banner>
          )}
          <TextField
            control={form.control}
            name="address"
            label="Address"
            required
            mono
            placeholder="https://app.example.com/path"
            hint="A URL, a host, or a port like tcp://host:32760 or 32760/udp."
          />
          <TextField
            control={form.control}
            name="visitor"
            label="Visitor's IP"
            mono
            placeholder="Yours"
            hint="The address that IP lists are checked against."
          />
          <Button variant="primary" type="submit" icon={Search} busy={isBusy}>
            Find Out
          </Button>
        </form>
      </div>
      {data && !begin.isPending && <WhyResult why={data} />}
    </>
  )
}

/** Begins to look, and reads how far it has come until it is done. */
function useWhy() {
  const api = useApi()
  const begin = useMutation({
    mutationFn: (body: { address: string; visitor: string }) => api.call(endpoints.beginWhy, { body }),
  })
  const id = begin.data?.id
  const { data = begin.data } = useAnswer(
    endpoints.getWhy,
    { params: { id: id ?? 0 } },
    {
      enabled: id !== undefined,
      refetchInterval: (why) => (why && why.state !== 'looking' ? undefined : EVERY_MS),
    },
  )
  return { begin, data }
}
