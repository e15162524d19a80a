import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { errorMessage, failureOf, isTold } from '../api/api-error.ts'
import { type Column, Table } from '../ui/data/Table.tsx'
import { ErrorPanel } from '../ui/feedback/EmptyState.tsx'

interface Props<T> {
  answer: UseQueryResult<T[]>
  caption: string
  /** The plural of the rows' kind, for error messages. */
  noun: string
  columns: readonly Column<T>[]
  empty?: ReactNode
  inCard?: boolean
}

/** A list that is short enough to come as a whole. */
export function AnswerTable<T extends { id: number }>({
  answer,
  caption,
  noun,
  columns,
  empty,
  inCard,
}: Props<T>) {
  const { data, isError, error, isFetching, refetch } = answer
  const content =
    data === undefined && isError ? (
      <ErrorPanel
        title={`The ${noun} could not be loaded`}
        text={!isTold(error) && errorMessage(error)}
        failure={failureOf(error)}
        busy={isFetching}
        onRetry={() => refetch()}
      />
    ) : data?.length === 0 && empty ? (
      empty
    ) : (
      <Table
        className="answers"
        caption={caption}
        columns={columns}
        rows={data}
        rowKey={({ id }) => id}
        skeletonRows={3}
      />
    )
  return inCard ? content : <div className="panel">{content}</div>
}
