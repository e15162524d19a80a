import type { BackupState } from '@postern/contract/backup'
import { settings as endpoints } from '@postern/contract/endpoints/settings'
import { useQueryClient } from '@tanstack/react-query'
import { TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { errorMessage } from '../../api/api-error.ts'
import { useApi } from '../../api/context.ts'
import { keyOf, useAnswer } from '../../api/queries.ts'
import { useRules } from '../../api/rules.ts'
import { attempt } from '../../components/ask.ts'
import { Button } from '../../ui/Button.tsx'
import { Skeleton } from '../../ui/data/Table.tsx'
import { ErrorPanel } from '../../ui/feedback/EmptyState.tsx'
import { toast } from '../../ui/feedback/Toasts.tsx'
import { formatBytes } from '../../util/bytes.ts'
import { formatMoment } from '../../util/time.ts'
import { serverUrls } from '../../util/urls.ts'

/** While one is being made, and otherwise: the server makes them by itself. */
const [SOON, LATER] = [1000, 60_000]

/** The copies that the server makes of its database, and the last one. */
export function BackupCard() {
  const api = useApi()
  const queries = useQueryClient()
  const mayMake = useRules().may(endpoints.makeBackup)
  const [isAsked, setAsked] = useState(false)
  const query = useAnswer(
    endpoints.getBackups,
    {},
    { refetchInterval: (state) => (state?.isRunning ? SOON : LATER) },
  )
  const { data: state } = query
  const make = async () => {
    setAsked(true)
    await attempt(async () => {
      const made = await api.call(endpoints.makeBackup, {})
      queries.setQueryData(keyOf(endpoints.getBackups, {}), made)
      if (made.failure) toast.error('The backup failed')
      else if (!made.isRunning) toast.success('Backup made', made.last?.name ?? '')
    })
    setAsked(false)
  }
  return (
    <section className="card backup-card" aria-labelledby="settings-backups">
      <header className="card-head">
        <h2 id="settings-backups">Backups</h2>
        {mayMake && state?.directory && (
          <Button size="sm" busy={isAsked || state.isRunning} onClick={() => void make()}>
            Back Up Now
          </Button>
        )}
      </header>
      <div className="card-body">
        {state ? (
          <Backups state={state} />
        ) : query.isError ? (
          <ErrorPanel
            title="Couldn't load the backups"
            text={errorMessage(query.error)}
            onRetry={() => void query.refetch()}
            busy={query.isFetching}
          />
        ) : (
          <Skeleton width={60} />
        )}
      </div>
    </section>
  )
}

function Backups({ state: { directory, keep, copies, last, failure } }: { state: BackupState }) {
  const guide = (
    <a href={serverUrls.backups()} target="_blank" rel="noreferrer">
      documentation
    </a>
  )
  if (directory === null)
    return (
      <p className="hint">
        Postern makes none, because no directory is set. Set <code>POSTERN_BACKUP_DIR</code> and start again:{' '}
        {guide}.
      </p>
    )
  return (
    <>
      <p className="hint">
        A copy of the database and its key, once a day. Anyone who has one has all keys of the installation:{' '}
        {guide}.
      </p>
      <dl className="setting-list">
        <div>
          <dt>Directory</dt>
          <dd className="mono">{directory}</dd>
        </div>
        <div>
          <dt>Last Copy</dt>
          <dd>
            {last ? `${formatMoment(last.at)}, ${formatBytes(last.bytes)}` : 'None yet'}
            {failure && (
              <span className="setting-note bad">
                <TriangleAlert className="ic" />
                <span>
                  {formatMoment(failure.at)}: {failure.problem} It is tried again every hour.
                </span>
              </span>
            )}
          </dd>
        </div>
        <div>
          <dt>Copies</dt>
          <dd>
            {copies}, at most {keep}
          </dd>
        </div>
      </dl>
    </>
  )
}
