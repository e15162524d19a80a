import type { HistoryEntry } from '@postern/contract/history/history'
import { useMemo, useState } from 'react'
import { RelativeTime } from '../../ui/data/Figures.tsx'
import { OPENS_ROW } from '../../ui/data/row-events.ts'
import { type Column, Table } from '../../ui/data/Table.tsx'
import { ChangeDialog } from './ChangeDialog.tsx'
import { Differences } from './Differences.tsx'
import { actorText, whatText } from './words.ts'
import './History.css'

/** Lines of one change in a list. */
const MOST_LINES = 4

interface Props {
  caption: string
  /** Undefined while they are loaded. */
  rows: readonly HistoryEntry[] | undefined
  skeletonRows?: number
}

/** Changes with their differences; a click shows all of one. */
export function HistoryTable({ caption, rows, skeletonRows = 8 }: Props) {
  const [opened, setOpened] = useState<HistoryEntry | null>(null)
  const columns = useMemo(() => columnsFor(setOpened), [])
  return (
    <>
      <Table
        className="changes"
        caption={caption}
        columns={columns}
        rows={rows}
        rowKey={({ revision }) => revision}
        skeletonRows={skeletonRows}
      />
      {opened && <ChangeDialog entry={opened} onClose={() => setOpened(null)} />}
    </>
  )
}

function columnsFor(open: (entry: HistoryEntry) => void): readonly Column<HistoryEntry>[] {
  return [
    {
      head: 'Change',
      className: 'c-name',
      render: (entry) => (
        <>
          <button type="button" className="what" {...OPENS_ROW} onClick={() => open(entry)}>
            {whatText(entry)}{' '}
            {entry.name !== null && (
              <b>
                <bdi>{quoted(entry.name)}</bdi>
              </b>
            )}
          </button>
          {entry.undoneBy !== null && <span className="of"> taken back</span>}
          <Lines entry={entry} />
        </>
      ),
    },
    { head: 'By', width: 'w-20', className: 'by', label: 'By', render: (entry) => <By entry={entry} /> },
    {
      head: 'When',
      width: 'w-ago',
      label: 'When',
      render: ({ at }) => <RelativeTime time={Date.parse(at)} />,
    },
  ]
}

/** Several names are in quotes already. */
const quoted = (name: string) => (name.startsWith('“') ? name : `“${name}”`)

/** The differences of the first record that stays; what came or went is in the dialog. */
function Lines({ entry: { records, total, name } }: { entry: HistoryEntry }) {
  const [first] = records.filter(({ before, after }) => before !== null && after !== null)
  if (!first) return null
  return (
    <>
      {total > 1 && first.name !== name && <span className="of"> {quoted(first.name)}</span>}
      <Differences record={first} most={MOST_LINES} />
      {total > 1 && (
        <p className="of">and {total - 1 === 1 ? 'another record' : `${total - 1} other records`}</p>
      )}
    </>
  )
}

function By({ entry }: { entry: HistoryEntry }) {
  const words = actorText(entry)
  return (
    <>
      <bdi>{entry.actor.name}</bdi>
      {words !== null && <span className="sub">{words}</span>}
      {entry.address !== null && <span className="sub mono">{entry.address}</span>}
    </>
  )
}
