import type { ReactNode } from 'react'
import { errorMessage, failureOf, isTold } from '../../api/api-error.ts'
import { Button } from '../../ui/Button.tsx'
import { ErrorPanel } from '../../ui/feedback/EmptyState.tsx'
import { HistoryTable } from './HistoryTable.tsx'
import { type HistoryQuery, useHistory } from './use-history.ts'

interface Props {
  caption: string
  query: HistoryQuery
  /** Where there is none. */
  empty: ReactNode
}

/** All changes that a query finds, as far as a person wants to go back. */
export function HistoryList({ caption, query, empty }: Props) {
  const { rows, error, isError, isFetching, isFull, hasNextPage, refetch, fetchNextPage } = useHistory(query)
  if (!rows && isError)
    return (
      <div className="panel">
        <ErrorPanel
          title="The history could not be loaded"
          text={!isTold(error) && errorMessage(error)}
          failure={failureOf(error)}
          busy={isFetching}
          onRetry={() => void refetch()}
        />
      </div>
    )
  return (
    <>
      <div className="panel">
        {rows?.length === 0 ? (
          hasNextPage ? (
            <p className="none">None among the newest changes.</p>
          ) : (
            empty
          )
        ) : (
          <HistoryTable caption={caption} rows={rows} />
        )}
      </div>
      {rows && (rows.length > 0 || hasNextPage) && (
        <footer className="history-foot">
          <p role="status">{footText({ isFull, hasNextPage })}</p>
          {hasNextPage && !isFull && (
            <Button busy={isFetching} onClick={() => void fetchNextPage()}>
              Show older
            </Button>
          )}
        </footer>
      )}
    </>
  )
}

function footText({ isFull, hasNextPage }: { isFull: boolean; hasNextPage: boolean }): string {
  if (!hasNextPage) return 'There are no older ones.'
  return isFull ? 'Filter or export to see older ones.' : ''
}
