import { LIMITS } from '@postern/contract/limits'
import type { Page } from '@postern/contract/lists'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { errorMessage, failureOf, isTold } from '../api/api-error.ts'
import { keepRowsPerPage, ROWS_PER_PAGE } from '../stores/row-counts.ts'
import { Button, IconButton } from '../ui/Button.tsx'
import { OPENS_ROW } from '../ui/data/row-events.ts'
import { type Column, Pager, Table } from '../ui/data/Table.tsx'
import { EmptyState, ErrorPanel } from '../ui/feedback/EmptyState.tsx'
import { isNarrowed } from './list-params.ts'
import { withTicks } from './TickColumn.tsx'
import type { List } from './use-list.ts'
import { type Selection, SelectionContext } from './use-selection.ts'

interface Props<T> {
  list: List<T>
  caption: string
  /** The plural of the rows' kind, for error messages: `nodes`. */
  noun: string
  columns: readonly Column<T>[]
  /** The menu of a row; the same function each time, like `columns`. */
  renderMenu?: (row: T) => ReactNode
  /** Shown when there are no rows yet. */
  empty: ReactNode
  /** Whether there are none yet, for lists with rows from the start. */
  isEmpty?: (page: Page<T>) => boolean
  /** Shown when no row matches the search and filter. */
  noMatch?: ReactNode
  /** Something wide below a row, which a button in front of it shows and hides; the same `label` each time. */
  expand?: { label: (row: T) => string; render: (row: T) => ReactNode }
  /** Makes rows that can be ticked. */
  selection?: Selection<T> | undefined
  className?: string
  /** Inside a card, which has a frame of its own. */
  inCard?: boolean
}

/** A page of a list: its rows, or why there are none, and the pagination. */
export function QueryTable<T extends { id: number }>(props: Props<T>) {
  const { list, noun, inCard } = props
  const { data: page, isError, error, isFetching, refetch } = list.query
  const content =
    page === undefined && isError ? (
      <ErrorPanel
        title={`The ${noun} could not be loaded`}
        text={!isTold(error) && errorMessage(error)}
        failure={failureOf(error)}
        busy={isFetching}
        onRetry={() => refetch()}
      />
    ) : (
      <>
        {page?.total !== 0 && <Rows {...props} />}
        {page && <NoRows {...props} page={page} />}
      </>
    )
  return (
    <>
      {inCard ? content : <div className="panel">{content}</div>}
      {page && (
        <Pager
          page={list.params.page}
          limit={page.limit}
          total={page.total}
          onPage={(next) => list.change({ page: next })}
          limits={inCard ? ROWS_PER_CARD : ROWS_PER_PAGE}
          onLimit={(limit) => changeLimit(list, limit, !inCard)}
        />
      )}
    </>
  )
}

/** For a list inside a page about something else, which starts short. */
const ROWS_PER_CARD = [LIMITS.cardPageSize, 25, LIMITS.maxPageSize]

/** The first visible row stays on the shown page. */
function changeLimit({ params, change }: List<unknown>, limit: number, isKept: boolean): void {
  if (isKept) keepRowsPerPage(limit)
  change({ limit, page: Math.floor(((params.page - 1) * params.limit) / limit) + 1 })
}

function Rows<T extends { id: number }>({ list, expand, ...props }: Props<T>) {
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set())
  const { columns, renderMenu } = props
  const { selection } = props
  const label = expand?.label
  const canTick = selection !== undefined
  const all = useMemo(() => {
    const toggle = (id: number) => setOpen((before) => before.symmetricDifference(new Set([id])))
    const [first, ...others] = [
      ...(label ? [expander(label, open, toggle)] : []),
      ...columns,
      ...(renderMenu ? [{ ...ACTIONS, render: renderMenu }] : []),
    ]
    if (!first) return []
    return [canTick ? withTicks(first) : first, ...others]
  }, [columns, renderMenu, label, open, canTick])
  return (
    <SelectionContext value={selection}>
      <Table
        className={props.className}
        caption={props.caption}
        columns={all}
        rows={list.query.data?.data}
        rowKey={({ id }) => id}
        sort={list.params.sort}
        onSort={(sort) => list.change({ sort })}
        skeletonRows={list.expectedRows ?? (props.inCard ? 2 : 5)}
        renderExpanded={(row) => open.has(row.id) && expand?.render(row)}
      />
    </SelectionContext>
  )
}

const ACTIONS = { head: 'Actions', hiddenHead: true, width: 'w-act', className: 'c-act' }

/** The button that shows and hides what is below a row. */
function expander<T extends { id: number }>(
  label: (row: T) => string,
  open: ReadonlySet<number>,
  toggle: (id: number) => void,
): Column<T> {
  return {
    head: 'Show more',
    hiddenHead: true,
    width: 'w-exp',
    className: 'c-exp',
    render: (row) => (
      <IconButton
        {...OPENS_ROW}
        label={label(row)}
        icon={open.has(row.id) ? ChevronDown : ChevronRight}
        aria-expanded={open.has(row.id)}
        onClick={() => toggle(row.id)}
      />
    ),
  }
}

function NoRows<T>({ list: { params }, page, empty, isEmpty, noMatch }: Props<T> & { page: Page<T> }) {
  const hasNone = isNarrowed(params) || !isEmpty ? page.total === 0 : isEmpty(page)
  if (!hasNone) return null
  return isNarrowed(params) ? noMatch : empty
}

interface NothingMatchesProps {
  list: List<unknown>
  text: string
  /** A second action. */
  children?: ReactNode
}

/** There may be rows, but none for this search. */
export function NothingMatches({ list: { params, change }, text, children }: NothingMatchesProps) {
  return (
    <EmptyState door="dashed" title={`Nothing matches “${params.search}”`} text={text}>
      <Button onClick={() => change({ search: '' })}>Clear search</Button>
      {children}
    </EmptyState>
  )
}
