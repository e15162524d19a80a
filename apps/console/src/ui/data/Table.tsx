import { clsx } from 'clsx'
import { ChevronDown, ChevronUp } from 'lucide-react'
import { Fragment, memo, type ReactNode } from 'react'
import { Button } from '../Button.tsx'
import { Select } from '../input/Select.tsx'
import { moveInRows, ROW_EVENTS } from './row-events.ts'
import './Pager.css'
import './Table.css'

export interface Column<T> {
  head: string
  /** The head is only for screen readers. */
  hiddenHead?: boolean
  /** What stands in front of the head. */
  leadHead?: () => ReactNode
  /** A class of `styles/table.css` like `w-15`. */
  width?: string
  /** Makes the head a button that sorts by this field of the endpoint. */
  sortBy?: string
  className?: string
  /** Shown above the value on narrow screens. */
  label?: string
  render: (row: T) => ReactNode
  /**
   * The only fields that `render` reads, so that its cell is rendered again when one of them changes; see `cellsOf`.
   */
  reads?: readonly (keyof T)[]
}

/** For rows whose figures change all the time: builds cells whose types make them declare the fields they read. */
export function cellsOf<T>() {
  return <K extends keyof T>(reads: readonly K[], render: (row: Pick<T, K>) => ReactNode) => ({
    reads,
    render,
  })
}

export interface TableProps<T> {
  caption: string
  /** The same array each time, or every row is rendered again. */
  columns: readonly Column<T>[]
  /** Undefined while they load: the table shows `skeletonRows` placeholder lines. */
  rows: readonly T[] | undefined
  rowKey: (row: T) => string | number
  sort?: Sort | undefined
  onSort?: (sort: Sort) => void
  skeletonRows?: number
  /** Something wide below a row, or null. */
  renderExpanded?: (row: T) => ReactNode
  className?: string
}

/** Explicit roles, because narrow screens turn each row into a card and `display` would drop them. */
export function Table<T>(props: TableProps<T>) {
  const { caption, columns, rows, className } = props
  return (
    // biome-ignore-start lint/a11y/noRedundantRoles: see above
    <table
      className={clsx('table stack', className)}
      role="table"
      aria-busy={rows === undefined || undefined}
    >
      <caption className="sr">{caption}</caption>
      <colgroup>
        {columns.map((column) => (
          <col key={column.head} className={column.width} />
        ))}
      </colgroup>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <SortHead key={column.head} column={column} sort={props.sort} onSort={props.onSort} />
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup" onKeyDown={moveInRows}>
        {rows === undefined ? (
          <SkeletonRows {...props} />
        ) : (
          rows.map((row) => (
            <Row
              key={props.rowKey(row)}
              row={row}
              columns={columns}
              expanded={props.renderExpanded?.(row) || null}
            />
          ))
        )}
      </tbody>
    </table>
    // biome-ignore-end lint/a11y/noRedundantRoles: see above
  )
}

interface RowProps<T> {
  row: T
  columns: readonly Column<T>[]
  expanded: ReactNode
}

function DrawnRow<T>({ row, columns, expanded }: RowProps<T>) {
  return (
    <Fragment>
      {/* biome-ignore lint/a11y/noRedundantRoles: display drops the role on narrow screens */}
      <tr role="row" className={expanded ? 'open' : undefined} {...ROW_EVENTS}>
        {columns.map((column) => (
          <RowCell key={column.head} column={column} row={row} />
        ))}
      </tr>
      {expanded && (
        // biome-ignore lint/a11y/noRedundantRoles: display drops the role on narrow screens
        <tr role="row" className="expand">
          {/* biome-ignore lint/a11y/noRedundantRoles: display drops the role on narrow screens */}
          <td role="cell" colSpan={columns.length}>
            {expanded}
          </td>
        </tr>
      )}
    </Fragment>
  )
}

/** Rendered again when its record has changed. */
// Memo keeps the component's own type, but for the parameter.
const Row = memo(DrawnRow) as typeof DrawnRow

interface CellProps<T> {
  column: Column<T>
  row: T
}

function DrawnCell<T>({ column, row }: CellProps<T>) {
  return <Cell column={column}>{column.render(row)}</Cell>
}

function isSameCell<T>(before: CellProps<T>, { column, row }: CellProps<T>): boolean {
  if (before.column !== column) return false
  return before.row === row || (column.reads?.every((field) => before.row[field] === row[field]) ?? false)
}

/** Rendered again when a field that it reads has changed. */
// As above.
const RowCell = memo(DrawnCell, isSameCell) as typeof DrawnCell

function Cell<T>({ column, children }: { column: Column<T>; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noRedundantRoles: display drops the role on narrow screens
    <td role="cell" className={column.className} data-label={column.label}>
      {children}
    </td>
  )
}

const WIDTHS = [62, 38, 74, 50, 44]

function SkeletonRows<T>({ columns, skeletonRows = 5 }: TableProps<T>) {
  return Array.from({ length: skeletonRows }, (_, row) => (
    // biome-ignore lint/a11y/noRedundantRoles: display drops the role on narrow screens
    <tr role="row" className="skel" key={`bone-${row.toString()}`}>
      {columns.map((column, index) => (
        <Cell key={column.head} column={column}>
          {!column.hiddenHead && <Skeleton width={WIDTHS[(row + index) % WIDTHS.length] ?? 50} />}
        </Cell>
      ))}
    </tr>
  ))
}

export interface Sort {
  field: string
  direction: 'asc' | 'desc'
}

interface Props {
  column: Pick<Column<never>, 'head' | 'hiddenHead' | 'leadHead' | 'sortBy' | 'className'>
  sort: Sort | undefined
  onSort: ((sort: Sort) => void) | undefined
}

/** A column's head; clicking the current sort column reverses the order. */
function SortHead({ column, sort, onSort }: Props) {
  const { head, sortBy, hiddenHead, leadHead } = column
  const isCurrent = sortBy !== undefined && sort?.field === sortBy
  const descending = isCurrent && sort?.direction === 'desc'
  const Icon = descending ? ChevronDown : ChevronUp
  return (
    <th
      // biome-ignore lint/a11y/noRedundantRoles: display drops the role on narrow screens
      role="columnheader"
      scope="col"
      className={leadHead || column.className?.includes('r') ? column.className : undefined}
      aria-sort={isCurrent ? (descending ? 'descending' : 'ascending') : undefined}
    >
      {leadHead?.()}
      {sortBy && onSort ? (
        <button
          type="button"
          onClick={() => onSort({ field: sortBy, direction: isCurrent && !descending ? 'desc' : 'asc' })}
        >
          {head}
          <Icon className="ic sort" />
        </button>
      ) : (
        <span className={hiddenHead ? 'sr' : undefined}>{head}</span>
      )}
    </th>
  )
}

/** A line of text that is still loading. `width` in percent. */
export function Skeleton({ width }: { width: number }) {
  return <i className="bone" style={{ width: `${width}%` }} aria-hidden="true" />
}

export interface PagerProps {
  page: number
  limit: number
  total: number
  onPage: (page: number) => void
  /** The choices for rows per page, if the person may choose. */
  limits?: readonly number[]
  onLimit?: (limit: number) => void
}

/** Only shown when there is more than one page, or would be with fewer rows per page. */
export function Pager({ page, limit, total, onPage, limits = [], onLimit }: PagerProps) {
  const pages = Math.ceil(total / limit)
  if (total <= Math.min(limit, ...limits)) return null
  const first = (page - 1) * limit + 1
  const last = Math.min(page * limit, total)
  return (
    <nav className="pager" aria-label="Pages">
      <p>
        Showing <b>{first}</b> to <b>{last}</b> of <b>{total}</b> results
      </p>
      {onLimit && <RowsPerPage limit={limit} limits={limits} onLimit={onLimit} />}
      <div>
        <Button disabled={page <= 1} onClick={() => onPage(page - 1)}>
          Previous
        </Button>
        <Button disabled={page >= pages} onClick={() => onPage(page + 1)}>
          Next
        </Button>
      </div>
    </nav>
  )
}

function RowsPerPage({
  limit,
  limits = [],
  onLimit,
}: Pick<PagerProps, 'limit' | 'limits'> & Required<Pick<PagerProps, 'onLimit'>>) {
  const options = [...new Set([...limits, limit])].sort((a, b) => a - b).map(String)
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the select inside of it is one
    <label className="per-page">
      <span>Rows per page</span>
      <Select
        options={options.map((value) => ({ value, text: value }))}
        value={String(limit)}
        onValueChange={(value) => onLimit(Number(value))}
      />
    </label>
  )
}
