import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import type { Trial, TrialAccount } from '@postern/contract/sign-in/trials'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ArrowUpRight } from 'lucide-react'
import { useState } from 'react'
import { errorMessage } from '../../api/api-error.ts'
import { useApi } from '../../api/context.ts'
import { keyOf, useAnswer } from '../../api/queries.ts'
import { Button } from '../../ui/Button.tsx'
import { Badge } from '../../ui/feedback/Badge.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { serverUrls } from '../../util/urls.ts'
import { Pairs } from './Pairs.tsx'

/** Signs an operator in at the provider, and shows the outcome. */
export function TrialCard({ disabled }: { disabled: boolean }) {
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
          Sign in at the provider in a new tab, with any account. Only you see what the provider says about
          it, and you are not signed in anywhere.
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

/**
 * The last trial of this session; the tab is opened at once, because a browser allows it only right after the click.
 */
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
      return <p className="hint">Waiting for you to sign in. This page waits 15 minutes.</p>
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
