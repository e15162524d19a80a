import { history as endpoints } from '@postern/contract/endpoints/history'
import { Link } from 'react-router'
import { errorMessage } from '../../api/api-error.ts'
import { useAnswer } from '../../api/queries.ts'
import { urls } from '../../util/urls.ts'
import { HistoryTable } from './HistoryTable.tsx'
import type { HistoryQuery } from './use-history.ts'

const SHOWN = 5

interface Props {
  /** What it is of. */
  name: string
  query: HistoryQuery
}

/** The last changes of one thing, on its own page, and the way to all of them. */
export function RecentHistory({ name, query }: Props) {
  const answer = useAnswer(endpoints.listHistory, { query: { ...query, limit: String(SHOWN) } })
  const rows = answer.data?.data
  return (
    <>
      {answer.isError && !rows && <p className="none">{errorMessage(answer.error)}</p>}
      {rows?.length === 0 && <p className="none">No change of it is kept.</p>}
      {rows?.length !== 0 && !(answer.isError && !rows) && (
        <HistoryTable caption={`Last changes of ${name}`} rows={rows} skeletonRows={2} />
      )}
      {answer.data?.next != null && (
        <footer className="history-foot">
          <Link to={urls.history(query)}>Whole history</Link>
        </footer>
      )}
    </>
  )
}
