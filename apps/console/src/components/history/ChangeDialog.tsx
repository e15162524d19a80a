import { history as endpoints } from '@postern/contract/endpoints/history'
import type { HistoryEntry, HistoryRecord, WholeChange } from '@postern/contract/history/history'
import { useQueryClient } from '@tanstack/react-query'
import { Undo2 } from 'lucide-react'
import { useState } from 'react'
import { ApiError, errorMessage } from '../../api/api-error.ts'
import { useApi } from '../../api/context.ts'
import { reload, useAnswer } from '../../api/queries.ts'
import { useRules } from '../../api/rules.ts'
import { Button } from '../../ui/Button.tsx'
import { Skeleton } from '../../ui/data/Table.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { toast } from '../../ui/feedback/Toasts.tsx'
import { Dialog, DialogBody, DialogFoot } from '../../ui/overlay/Dialog.tsx'
import { formatMoment } from '../../util/time.ts'
import { Differences } from './Differences.tsx'
import { labelOf } from './differences.ts'
import { actorText, fateText, kindText, whatText } from './words.ts'
import '../service-card/ServiceInfoDialog.css'

interface Props {
  entry: HistoryEntry
  onClose: () => void
}

/** All of one change, and the way back. */
export function ChangeDialog({ entry, onClose }: Props) {
  const query = useAnswer(endpoints.getChange, { params: { id: entry.revision } })
  const undo = useUndo(entry, onClose)
  const may = useRules().may(endpoints.undoChange)
  const whole = query.data
  return (
    <Dialog
      title={entry.name === null ? whatText(entry) : `${whatText(entry)}: ${entry.name}`}
      description={`Revision ${entry.revision}, ${formatMoment(entry.at)}`}
      busy={undo.isBusy}
      onClose={onClose}
    >
      <DialogBody isText>
        {undo.error !== null && <Refusal error={undo.error} kind={whole?.records[0]?.kind ?? ''} />}
        <Facts entry={whole ?? entry} />
        {query.isError && <p role="alert">{errorMessage(query.error)}</p>}
        {!whole && !query.isError && <Skeleton width={60} />}
        {whole && <Records entry={whole} />}
        {may && whole?.whyNotUndone && <p className="hint">{whole.whyNotUndone}</p>}
      </DialogBody>
      <DialogFoot>
        {may && whole?.whyNotUndone === null && (
          <Button icon={Undo2} busy={undo.isBusy} onClick={undo.run}>
            Undo
          </Button>
        )}
        <Button variant="primary" onClick={onClose}>
          Close
        </Button>
      </DialogFoot>
    </Dialog>
  )
}

/** Takes it back at once: that can be taken back again. */
function useUndo({ revision, name }: HistoryEntry, onDone: () => void) {
  const api = useApi()
  const queries = useQueryClient()
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const run = async () => {
    setBusy(true)
    setError(null)
    try {
      await api.call(endpoints.undoChange, { params: { id: revision }, body: {} })
      toast.success('Change taken back successfully!', name ?? `Revision ${revision}`)
      onDone()
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
    await reload(queries, {})
  }
  return { isBusy, error, run: () => void run() }
}

function Refusal({ error, kind }: { error: unknown; kind: string }) {
  const errors = error instanceof ApiError ? error.errors : []
  return (
    <Banner kind="bad" role="alert">
      <p>{errorMessage(error)}</p>
      {errors.map(({ field, message }) => (
        <p key={field}>
          {labelOf(kind, field)} {message}
        </p>
      ))}
    </Banner>
  )
}

function Facts({ entry }: { entry: HistoryEntry }) {
  return (
    <dl className="info-list">
      <div>
        <dt>By</dt>
        <dd>
          <bdi>{entry.actor.name}</bdi> {actorText(entry)}
        </dd>
      </div>
      {entry.address !== null && (
        <div>
          <dt>From</dt>
          <dd className="mono">{entry.address}</dd>
        </div>
      )}
      {entry.undoneBy !== null && (
        <div>
          <dt>Taken back</dt>
          <dd>By revision {entry.undoneBy}</dd>
        </div>
      )}
    </dl>
  )
}

function Records({ entry: { records, total } }: { entry: WholeChange }) {
  if (total === 0) return <p className="hint">Nothing is kept of what was before and after.</p>
  if (records.length === 0) return <p className="hint">What was before and after is no longer kept.</p>
  return (
    <div className="change-records">
      {records.map((record, index) => (
        <Record key={`${record.kind} ${record.id} ${index.toString()}`} record={record} />
      ))}
      {total > records.length && <p className="hint">{total - records.length} more are not kept.</p>}
    </div>
  )
}

function Record({ record }: { record: HistoryRecord }) {
  return (
    <section>
      <h3>
        {kindText(record.kind)} <bdi>{record.name}</bdi> <span className="sub">{fateText(record)}</span>
      </h3>
      <Differences record={record} />
    </section>
  )
}
