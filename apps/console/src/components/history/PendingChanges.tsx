import { history as endpoints } from '@postern/contract/endpoints/history'
import type { PendingChange } from '@postern/contract/history/history'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useApi } from '../../api/context.ts'
import { reload, useAnswer } from '../../api/queries.ts'
import { useRules } from '../../api/rules.ts'
import { Button } from '../../ui/Button.tsx'
import { useNow } from '../../ui/data/Figures.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { attempt } from '../ask.ts'
import { whatText } from './words.ts'

/** In ms, while something counts down. */
const LOOK_EVERY = 5000

/** Changes that are taken back unless a person keeps them, across the top of every page. */
export function PendingChanges() {
  const query = useAnswer(
    endpoints.listPendingChanges,
    {},
    { refetchInterval: (answer) => (answer && answer.data.length > 0 ? LOOK_EVERY : undefined) },
  )
  const rows = query.data?.data ?? []
  if (rows.length === 0) return null
  return (
    <div className="banners">
      {rows.map((change) => (
        <Pending key={change.revision} change={change} seenAt={query.dataUpdatedAt} />
      ))}
    </div>
  )
}

function Pending({ change, seenAt }: { change: PendingChange; seenAt: number }) {
  const { revision, problem, actor } = change
  const { isBusy, keep, takeBack } = useDecision(revision)
  const may = useRules().may
  const what = `${whatText(change)}${change.name === null ? '' : ` ${change.name}`}`
  return (
    <Banner
      kind={problem === null ? 'warn' : 'bad'}
      role="status"
      action={
        may(endpoints.keepChange) && (
          <>
            {problem === null && (
              <Button size="sm" disabled={isBusy} onClick={takeBack}>
                Take Back Now
              </Button>
            )}
            <Button size="sm" disabled={isBusy} onClick={keep}>
              Keep
            </Button>
          </>
        )
      }
    >
      <p>
        <b>
          <bdi>{what}</bdi>
        </b>{' '}
        by {actor}{' '}
        {problem === null ? (
          <>
            is taken back in <Countdown until={seenAt + change.leftMs} /> unless you keep it.
          </>
        ) : (
          `could not be taken back: ${problem}`
        )}
      </p>
    </Banner>
  )
}

/** Read out once: a screen reader must not hear each second. */
function Countdown({ until }: { until: number }) {
  const left = Math.max(0, Math.ceil((until - useNow()) / 1000))
  const text = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`
  return (
    <>
      <span className="tn" aria-hidden="true">
        {text}
      </span>
      <span className="sr">a short time</span>
    </>
  )
}

function useDecision(revision: number) {
  const api = useApi()
  const queries = useQueryClient()
  const [isBusy, setBusy] = useState(false)
  const decide = (endpoint: typeof endpoints.keepChange | typeof endpoints.undoChange) => async () => {
    setBusy(true)
    await attempt(() => api.call(endpoint, { params: { id: revision }, body: {} }))
    await reload(queries, {})
    setBusy(false)
  }
  return {
    isBusy,
    keep: () => void decide(endpoints.keepChange)(),
    takeBack: () => void decide(endpoints.undoChange)(),
  }
}
