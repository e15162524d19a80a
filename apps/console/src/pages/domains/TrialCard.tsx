import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import type { Trial, TrialAccount } from '@postern/contract/sign-in/trials'
import { ArrowUpRight } from 'lucide-react'
import { useApi } from '../../api/context.ts'
import { TrialOutcome } from '../../components/trial/TrialOutcome.tsx'
import { useTrial } from '../../components/trial/use-trial.ts'
import { Button } from '../../ui/Button.tsx'
import { Pairs } from '../../ui/data/Pairs.tsx'
import { Badge } from '../../ui/feedback/Badge.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { serverUrls } from '../../util/urls.ts'

/** Signs an operator in at the provider, and shows the outcome. */
export function TrialCard({ disabled }: { disabled: boolean }) {
  const api = useApi()
  const trial = useTrial(() => api.call(endpoints.beginTrial, { body: {} }))
  return (
    <section className="card" aria-labelledby="trial">
      <header className="card-head">
        <h2 id="trial">Sign in</h2>
        <Verdict trial={trial.data} />
      </header>
      <div className="card-body">
        <p>
          Sign in at the provider in a new tab, with any account. Only you see what the provider says about
          it, and you are not signed in anywhere.
        </p>
        <p>
          <Button
            variant="primary"
            icon={ArrowUpRight}
            busy={trial.begin.isPending}
            disabled={disabled}
            onClick={trial.open}
          >
            Sign In at the Provider
          </Button>
        </p>
        <TrialOutcome trial={trial}>{(account) => <AccountFound account={account} />}</TrialOutcome>
      </div>
    </section>
  )
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

function AccountFound({ account: { email, doubt, claims } }: { account: TrialAccount }) {
  return (
    <div className="account">
      {doubt === null ? (
        <p>
          <b className="mono">{email}</b> gets in wherever it is on a domain's list.
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
