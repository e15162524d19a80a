import { history as endpoints } from '@postern/contract/endpoints/history'
import type { HistoryEntry, HistoryRecord } from '@postern/contract/history/history'
import { errorMessage } from '../../api/api-error.ts'
import { useAnswer } from '../../api/queries.ts'
import { Skeleton } from '../../ui/data/Table.tsx'
import { InfoDialog } from '../../ui/overlay/Dialog.tsx'
import { formatMoment } from '../../util/time.ts'
import { Differences } from './Differences.tsx'
import { actorText, fateText, kindText, whatText } from './words.ts'
import '../service-card/ServiceInfoDialog.css'

interface Props {
  entry: HistoryEntry
  onClose: () => void
}

/** All of one change. */
export function ChangeDialog({ entry, onClose }: Props) {
  const query = useAnswer(endpoints.getChange, { params: { id: entry.revision } })
  const whole = query.data
  return (
    <InfoDialog
      title={entry.name === null ? whatText(entry) : `${whatText(entry)}: ${entry.name}`}
      description={`Revision ${entry.revision}, ${formatMoment(entry.at)}`}
      closeText="Close"
      onClose={onClose}
    >
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
      </dl>
      {query.isError && <p role="alert">{errorMessage(query.error)}</p>}
      {!whole && !query.isError && <Skeleton width={60} />}
      {whole && <Records entry={whole} />}
    </InfoDialog>
  )
}

function Records({ entry: { records, total } }: { entry: HistoryEntry }) {
  if (total === 0) return <p className="hint">Nothing is kept of what was before and after.</p>
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
