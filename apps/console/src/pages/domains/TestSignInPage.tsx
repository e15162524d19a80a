import { endpoints } from '@postern/contract/endpoints'
import type { ProviderCheck, Trial, TrialAccount } from '@postern/contract/trials'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ArrowUpRight, BookOpen, RotateCw } from 'lucide-react'
import { useState } from 'react'
import { errorMessage } from '../../api/api-error.ts'
import { useApi } from '../../api/context.ts'
import { keyOf, useAnswer } from '../../api/queries.ts'
import { Page } from '../../components/Page.tsx'
import { Badge } from '../../ui/Badge.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { CopyField } from '../../ui/CopyButton.tsx'
import { EmptyState, ErrorPanel } from '../../ui/EmptyState.tsx'
import { Skeleton } from '../../ui/Table.tsx'
import { serverUrls, urls } from '../../util/urls.ts'
import './TestSignInPage.css'

/** The provider of sign-ins in front of services: what has to be entered there, whether it answers, and what it says. */
export function TestSignInPage() {
  return (
    <Page
      title="Test Sign-in"
      className="test-sign-in"
      crumbs={[{ text: 'Domains', to: urls.domains() }, { text: 'Test Sign-in' }]}
    >
      <header className="head">
        <div>
          <h1>Test Sign-in</h1>
          <p className="lead">Whether the provider works, and what it says of an account.</p>
        </div>
      </header>
      <Provider />
    </Page>
  )
}

function Provider() {
  const query = useAnswer(endpoints.checkProvider, {})
  const { data: check, isFetching } = query
  const retry = () => void query.refetch()
  if (query.isError && !check)
    return (
      <div className="panel">
        <ErrorPanel
          title="Couldn't ask the server"
          text={errorMessage(query.error)}
          onRetry={retry}
          busy={isFetching}
        />
      </div>
    )
  if (!check) return <Skeleton width={80} />
  if (check.issuer === null) return <NotSetUp redirectUrl={check.redirectUrl} />
  return (
    <>
      <ProviderCard check={check} onRetry={retry} busy={isFetching} />
      <TrialCard disabled={check.problem !== null} />
    </>
  )
}

function NotSetUp({ redirectUrl }: { redirectUrl: string }) {
  return (
    <div className="panel">
      <EmptyState
        door="ajar"
        title="No provider is set up"
        text={
          <>
            Register Postern at Google, Microsoft, GitHub or your own provider with the redirect address{' '}
            <span className="mono">{redirectUrl}</span>, set what you get there, and start again.
          </>
        }
      >
        <a className="btn" href={serverUrls.signIn()} target="_blank" rel="noreferrer">
          <BookOpen className="ic" />
          How to set one up
        </a>
      </EmptyState>
    </div>
  )
}

interface ProviderCardProps {
  check: ProviderCheck
  onRetry: () => void
  busy: boolean
}

function ProviderCard({ check, onRetry, busy }: ProviderCardProps) {
  const { issuer, endpoints: addresses, problem, redirectUrl } = check
  return (
    <section className="card" aria-labelledby="provider">
      <header className="card-head">
        <h2 id="provider">Provider</h2>
        {problem === null ? <Badge kind="ok">Found</Badge> : <Badge kind="bad">Not found</Badge>}
      </header>
      <div className="card-body">
        <div className="field">
          <span className="label">Redirect address</span>
          <CopyField label="Redirect address" value={redirectUrl} />
          <p className="hint">Enter it at the provider exactly so. It is the same for all domains.</p>
        </div>
        {problem !== null && (
          <Banner
            kind="bad"
            role="alert"
            action={
              <Button size="sm" icon={RotateCw} busy={busy} onClick={onRetry}>
                Retry
              </Button>
            }
          >
            <p>
              {problem} Nobody can sign in to services until the provider is found: check{' '}
              <code>POSTERN_OIDC_ISSUER</code>, and whether this server may reach that address.
            </p>
          </Banner>
        )}
        <Pairs
          pairs={[['Issuer', issuer ?? ''], ...addresses.map(({ name, url }) => [name, url] as const)]}
        />
      </div>
    </section>
  )
}

function TrialCard({ disabled }: { disabled: boolean }) {
  const trial = useTrial()
  const { begin, blocked, data } = trial
  return (
    <section className="card" aria-labelledby="trial">
      <header className="card-head">
        <h2 id="trial">Sign in</h2>
        <Verdict trial={data} />
      </header>
      <div className="card-body">
        <p>
          You sign in at the provider in a new tab, with any account. What the provider says of it is shown
          here, and to nobody else. It signs you in nowhere.
        </p>
        <p>
          <Button
            variant="primary"
            icon={ArrowUpRight}
            busy={begin.isPending}
            disabled={disabled}
            onClick={trial.open}
          >
            Sign In at the Provider
          </Button>
        </p>
        {blocked !== null && (
          <Banner kind="warn">
            <p>
              The browser did not open a tab.{' '}
              <a href={blocked} target="_blank" rel="noreferrer">
                Open the provider
              </a>
            </p>
          </Banner>
        )}
        {begin.isError && (
          <Banner kind="bad" role="alert">
            <p>{errorMessage(begin.error)}</p>
          </Banner>
        )}
        <div role="status">{!begin.isError && <Outcome trial={data} />}</div>
      </div>
    </section>
  )
}

const EVERY_MS = 1500

/** The last trial of this session; the tab is opened at once, since a browser forgets the click before an answer. */
function useTrial() {
  const api = useApi()
  const queries = useQueryClient()
  const [blocked, setBlocked] = useState<string | null>(null)
  const [isWaiting, setWaiting] = useState(false)
  const { data } = useAnswer(endpoints.getTrial, {}, { refetchInterval: isWaiting && EVERY_MS })
  if (data && isWaiting !== (data.state === 'waiting')) setWaiting(data.state === 'waiting')
  const begin = useMutation({
    mutationFn: () => api.call(endpoints.beginTrial, { body: {} }),
    onSuccess: () => queries.setQueryData<Trial>(keyOf(endpoints.getTrial, {}), { state: 'waiting' }),
  })
  const open = () => {
    const tab = window.open('', '_blank')
    setBlocked(null)
    begin.mutate(undefined, {
      onSuccess({ address }) {
        if (!tab) return setBlocked(address)
        tab.opener = null
        tab.location.href = address
      },
      onError: () => tab?.close(),
    })
  }
  return { data, begin, blocked, open }
}

function Verdict({ trial }: { trial: Trial | undefined }) {
  if (trial?.state === 'failed') return <Badge kind="bad">Failed</Badge>
  if (trial?.state !== 'done') return null
  return trial.account.doubt === null ? (
    <Badge kind="ok">Counts</Badge>
  ) : (
    <Badge kind="bad">Does not count</Badge>
  )
}

function Outcome({ trial }: { trial: Trial | undefined }) {
  switch (trial?.state) {
    case 'waiting':
      return <p className="hint">Waiting for you to sign in. It takes up to a quarter of an hour.</p>
    case 'failed':
      return (
        <Banner kind="bad">
          <p>{trial.problem}</p>
        </Banner>
      )
    case 'done':
      return <AccountFound account={trial.account} />
    default:
      return null
  }
}

function AccountFound({ account: { email, doubt, claims } }: { account: TrialAccount }) {
  return (
    <div className="account">
      {doubt === null ? (
        <p>
          <b className="mono">{email}</b> comes in wherever it is in a domain's list.
        </p>
      ) : (
        <Banner kind="warn">
          <p>
            {email !== null && (
              <>
                <b className="mono">{email}</b> does not count, whatever the lists say.{' '}
              </>
            )}
            {doubt}{' '}
            <a href={serverUrls.signIn()} target="_blank" rel="noreferrer">
              What to set at the provider
            </a>
          </p>
        </Banner>
      )}
      <h3>What the provider says</h3>
      <Pairs pairs={claims.map(({ name, value }) => [name, value] as const)} />
    </div>
  )
}

function Pairs({ pairs }: { pairs: readonly (readonly [name: string, value: string])[] }) {
  return (
    <dl className="pairs">
      {pairs.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="mono">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
