import type { Trial, TrialAccount } from '@postern/contract/sign-in/trials'
import type { ReactNode } from 'react'
import { errorMessage } from '../../api/api-error.ts'
import { Banner } from '../../ui/feedback/Banner.tsx'
import type { TrialUnderWay } from './use-trial.ts'

interface Props {
  trial: Pick<TrialUnderWay, 'begin' | 'blocked' | 'data'>
  /** What the provider says. */
  children: (account: TrialAccount) => ReactNode
}

/** What has become of a trial so far. */
export function TrialOutcome({ trial: { begin, blocked, data }, children }: Props) {
  return (
    <>
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
      <div role="status">{!begin.isError && <Outcome trial={data}>{children}</Outcome>}</div>
    </>
  )
}

function Outcome({ trial, children }: { trial: Trial | undefined; children: Props['children'] }) {
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
      return children(trial.account)
    default:
      return null
  }
}
