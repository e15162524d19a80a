import type { Delivery } from '@postern/contract/alerts/alerts'
import { alerts as endpoints } from '@postern/contract/endpoints/alerts'
import { usePageParams } from '../../table/list-params.ts'
import { QueryTable } from '../../table/QueryTable.tsx'
import { type List, useList } from '../../table/use-list.ts'
import { Button } from '../../ui/Button.tsx'
import { RelativeTime } from '../../ui/data/Figures.tsx'
import type { Column } from '../../ui/data/Table.tsx'
import { Badge } from '../../ui/feedback/Badge.tsx'
import { EmptyState } from '../../ui/feedback/EmptyState.tsx'
import { Pills } from '../../ui/input/Select.tsx'
import { AlertsFrame } from './AlertsFrame.tsx'

const TYPES = [
  { value: '', text: 'View All' },
  { value: 'sent', text: 'Sent' },
  { value: 'waiting', text: 'Waiting' },
  { value: 'failed', text: 'Failed' },
] as const

const STATUS = {
  sent: { kind: 'ok', text: 'Sent' },
  waiting: { kind: 'info', text: 'Waiting' },
  failed: { kind: 'bad', text: 'Failed' },
} as const

const COLUMNS: readonly Column<Delivery>[] = [
  {
    head: 'Message',
    className: 'c-name',
    render: ({ title, problem, status }) => (
      <>
        <span dir="auto">{title}</span>
        {problem !== null && <p className={status === 'failed' ? 'why bad' : 'why'}>{problem}</p>}
      </>
    ),
  },
  {
    head: 'Channel',
    width: 'w-20',
    label: 'Channel',
    render: ({ channelName }) => <span dir="auto">{channelName}</span>,
  },
  {
    head: 'Status',
    width: 'w-15',
    className: 'c-badge',
    render: ({ status, attempts }) => (
      <Badge kind={STATUS[status].kind}>
        {STATUS[status].text}
        {status === 'waiting' && attempts > 0 && `, tried ${attempts === 1 ? 'once' : `${attempts} times`}`}
      </Badge>
    ),
  },
  {
    head: 'When',
    width: 'w-ago',
    label: 'When',
    render: ({ at, sentAt }) => <RelativeTime time={Date.parse(sentAt ?? at)} />,
  },
]

/** The messages of the last 90 days, and those that wait. */
export function AlertHistoryPage() {
  const list = useList({ endpoint: endpoints.listDeliveries, state: usePageParams() })
  const { params, change } = list
  return (
    <AlertsFrame
      title="Alert History"
      filters={
        <Pills
          label="Status"
          options={TYPES}
          value={params.type}
          onValueChange={(type) => change({ type })}
        />
      }
    >
      <QueryTable
        className="deliveries"
        caption="Messages"
        noun="messages"
        list={list}
        columns={COLUMNS}
        empty={
          <EmptyState
            door="ajar"
            title="No messages yet"
            text="What is sent to your channels is kept here for 90 days."
          />
        }
        noMatch={<NoMatch list={list} />}
      />
    </AlertsFrame>
  )
}

function NoMatch({ list }: { list: List<Delivery> }) {
  return (
    <EmptyState door="dashed" title="No such messages" text="No message of the last 90 days has this status.">
      <Button onClick={() => list.change({ type: '' })}>View All</Button>
    </EmptyState>
  )
}
