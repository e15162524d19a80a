import type { Alert } from '@postern/contract/alerts/alerts'
import { BUILT_IN_RULES } from '@postern/contract/alerts/rules'
import { alerts as endpoints } from '@postern/contract/endpoints/alerts'
import { Link } from 'react-router'
import { useAnswer } from '../../api/queries.ts'
import { usePageParams } from '../../table/list-params.ts'
import { QueryTable } from '../../table/QueryTable.tsx'
import { useList } from '../../table/use-list.ts'
import { RelativeTime } from '../../ui/data/Figures.tsx'
import { OPENS_ROW } from '../../ui/data/row-events.ts'
import type { Column } from '../../ui/data/Table.tsx'
import { Badge } from '../../ui/feedback/Badge.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { EmptyState } from '../../ui/feedback/EmptyState.tsx'
import { domainRowUrl, urls } from '../../util/urls.ts'
import { AlertsFrame } from './AlertsFrame.tsx'

const COLUMNS: readonly Column<Alert>[] = [
  {
    head: 'Name',
    width: 'w-26',
    className: 'c-name',
    render: (alert) => (
      <>
        <Link {...OPENS_ROW} to={alertUrl(alert)} dir="auto">
          {alert.name}
        </Link>{' '}
        {alert.nodeName !== null && alert.kind !== 'node-lost' && alert.kind !== 'figure' && (
          <span className="sub">on {alert.nodeName}</span>
        )}
      </>
    ),
  },
  { head: 'Rule', width: 'w-20', className: 'c-full sub', render: ({ kind }) => ruleName(kind) },
  { head: 'Problem', className: 'c-full', render: ({ problem }) => problem },
  {
    head: 'Since',
    width: 'w-ago',
    label: 'Since',
    render: ({ since }) => <RelativeTime time={Date.parse(since)} />,
  },
  {
    head: 'Told',
    width: 'w-ago',
    label: 'Told',
    render: ({ lastTold }) =>
      lastTold === null ? <Badge kind="mute">Not yet</Badge> : <RelativeTime time={Date.parse(lastTold)} />,
  },
]

/** What is wrong now and people are told of. */
export function AlertsPage() {
  const list = useList({ endpoint: endpoints.listAlerts, state: usePageParams() })
  const channels = useAnswer(endpoints.listChannels, {}).data
  const hasNone = channels !== undefined && !channels.some(({ enabled }) => enabled)
  return (
    <AlertsFrame title="Alerts">
      {hasNone && (
        <Banner kind="info" className="page-note">
          Nobody is told of alerts yet. <Link to={urls.alertChannels()}>Add a channel</Link>, like your e-mail
          or your phone.
        </Banner>
      )}
      <QueryTable
        className="alerts"
        caption="Open alerts"
        noun="alerts"
        list={list}
        columns={COLUMNS}
        empty={
          <EmptyState
            door="ajar"
            title="No open alerts"
            text="Lost nodes, services that do not answer, and what else your rules find appear here."
          />
        }
      />
    </AlertsFrame>
  )
}

function ruleName(kind: Alert['kind']): string {
  return kind === 'figure' ? 'Own rule' : BUILT_IN_RULES[kind]
}

/** Where a person looks into it. */
function alertUrl({ kind, address, nodeId, name }: Alert): string {
  if (address !== null) return urls.why(address)
  if (nodeId !== null) return urls.node(nodeId)
  if (kind === 'backup-failed') return urls.settings()
  if (kind === 'certificate-ending') return domainRowUrl(name)
  return kind === 'figure' || kind === 'disk-full' ? urls.alertRules() : urls.attention()
}
