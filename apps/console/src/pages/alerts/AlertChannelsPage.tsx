import type { Channel } from '@postern/contract/alerts/channels'
import { alerts as endpoints } from '@postern/contract/endpoints/alerts'
import { useQueryClient } from '@tanstack/react-query'
import { Pencil, Plus, Trash2 } from 'lucide-react'
import { Suspense, useMemo, useState } from 'react'
import { useApi } from '../../api/context.ts'
import { reload, useAnswer } from '../../api/queries.ts'
import { useRules } from '../../api/rules.ts'
import { ask } from '../../components/ask.ts'
import { CHANNEL_KINDS } from '../../forms/alerts/channel-values.ts'
import { AnswerTable } from '../../table/AnswerTable.tsx'
import { Button } from '../../ui/Button.tsx'
import { RelativeTime } from '../../ui/data/Figures.tsx'
import type { Column } from '../../ui/data/Table.tsx'
import { Badge } from '../../ui/feedback/Badge.tsx'
import { EmptyState } from '../../ui/feedback/EmptyState.tsx'
import { Menu } from '../../ui/overlay/Menu.tsx'
import { AlertsFrame } from './AlertsFrame.tsx'
import { ChannelDialog } from './dialogs.ts'

const COLUMNS: readonly Column<Channel>[] = [
  {
    head: 'Name',
    width: 'w-26',
    className: 'c-name',
    render: ({ name, enabled }) => (
      <>
        <b dir="auto">{name}</b> {!enabled && <Badge kind="mute">Off</Badge>}
      </>
    ),
  },
  {
    head: 'Type',
    width: 'w-12',
    className: 'c-full sub',
    render: ({ kind }) => CHANNEL_KINDS[kind],
  },
  {
    head: 'Place',
    className: 'c-full',
    render: ({ place, recipients }) => (
      <>
        <span className="mono">{place}</span>{' '}
        {recipients.length > 0 && <span className="sub">to {recipients.join(', ')}</span>}
      </>
    ),
  },
  {
    head: 'Last Message',
    width: 'w-30',
    label: 'Last Message',
    render: ({ last }) =>
      last === null ? (
        <span className="none">None yet</span>
      ) : (
        <>
          <RelativeTime time={Date.parse(last.at)} />
          {last.problem !== null && <p className="why bad">{last.problem}</p>}
        </>
      ),
  },
]

/** Where alerts are sent. */
export function AlertChannelsPage() {
  const [open, setOpen] = useState<{ channel: Channel | undefined } | null>(null)
  const channels = useAnswer(endpoints.listChannels, {})
  const canEdit = useRules().may(endpoints.createChannel)
  const remove = useRemove()
  const columns = useMemo(
    () => (canEdit ? [...COLUMNS, actions(setOpen, remove)] : COLUMNS),
    [canEdit, remove],
  )
  const add = canEdit && (
    <Button variant="primary" icon={Plus} onClick={() => setOpen({ channel: undefined })}>
      Add Channel
    </Button>
  )
  return (
    <AlertsFrame title="Alert Channels" actions={add}>
      <AnswerTable
        answer={channels}
        caption="Channels"
        noun="channels"
        columns={columns}
        empty={
          <EmptyState
            door="ajar"
            title="No channels yet"
            text="Add one to be told when something needs you: by e-mail, ntfy, Slack, Discord, Telegram or a webhook."
          >
            {add}
          </EmptyState>
        }
      />
      <Suspense>{open && <ChannelDialog channel={open.channel} onClose={() => setOpen(null)} />}</Suspense>
    </AlertsFrame>
  )
}

function actions(
  onOpen: (open: { channel: Channel }) => void,
  remove: (channel: Channel) => void,
): Column<Channel> {
  return {
    head: 'Actions',
    hiddenHead: true,
    width: 'w-act',
    className: 'c-act',
    render: (channel) => (
      <Menu
        label={`Actions for ${channel.name}`}
        groups={[
          [{ text: 'Edit Channel', icon: Pencil, onSelect: () => onOpen({ channel }) }],
          [{ text: 'Delete Channel', icon: Trash2, danger: true, onSelect: () => remove(channel) }],
        ]}
      />
    ),
  }
}

function useRemove() {
  const api = useApi()
  const queries = useQueryClient()
  return useMemo(
    () => (channel: Channel) =>
      void ask({
        question: {
          title: 'Delete channel',
          description: (
            <>
              Nothing more is sent to <b>{channel.name}</b>, and what waits for it is dropped.
            </>
          ),
          variant: 'danger',
          icon: Trash2,
          acceptButtonText: 'Yes, delete it!',
        },
        act: () => api.call(endpoints.deleteChannel, { params: { id: channel.id } }),
        done: 'Channel deleted successfully!',
        subject: channel.name,
        refresh: () => reload(queries, { queryKey: [endpoints.listChannels.path] }),
      }),
    [api, queries],
  )
}
