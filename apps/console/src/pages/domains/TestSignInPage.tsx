import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import type { ProviderCheck } from '@postern/contract/sign-in/trials'
import { BookOpen, RotateCw } from 'lucide-react'
import { Link } from 'react-router'
import { errorMessage } from '../../api/api-error.ts'
import { useAnswer } from '../../api/queries.ts'
import { Page } from '../../components/Page.tsx'
import { Button } from '../../ui/Button.tsx'
import { CopyField } from '../../ui/CopyButton.tsx'
import { Pairs } from '../../ui/data/Pairs.tsx'
import { Skeleton } from '../../ui/data/Table.tsx'
import { Badge } from '../../ui/feedback/Badge.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { EmptyState, ErrorPanel } from '../../ui/feedback/EmptyState.tsx'
import { serverUrls, urls } from '../../util/urls.ts'
import { TrialCard } from './TrialCard.tsx'
import './TestSignInPage.css'

/** The provider of the sign-in in front of services: the values to enter there, whether it answers, and a trial. */
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
          <p className="lead">Whether the provider works, and what it reports about an account.</p>
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
          title="Couldn't reach the server"
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
            <span className="mono">{redirectUrl}</span>, and enter the values from there under{' '}
            <Link to={urls.settings()}>Settings</Link>.
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
          <p className="hint">Enter it at the provider exactly as shown. It is the same for all domains.</p>
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
              <code>POSTERN_OIDC_ISSUER</code>, and whether this server can reach that address.
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
