import type { Edge } from '@postern/contract/edge/edge'
import { KeyRound, Pencil, PlugZap, Trash2, Unplug } from 'lucide-react'
import { Link } from 'react-router'
import type { EdgeActions } from '../../components/edges/use-edge-actions.tsx'
import { TrafficCell } from '../../components/traffic/traffic.tsx'
import { RelativeTime, TimeLeft, useNow } from '../../ui/data/Figures.tsx'
import type { Column } from '../../ui/data/Table.tsx'
import { Badge } from '../../ui/feedback/Badge.tsx'
import { Menu } from '../../ui/overlay/Menu.tsx'
import { urls } from '../../util/urls.ts'
import { canJoin, certificateTrouble, isBeside, standingOf, troublesOf } from './edge-state.ts'

/** What the whole installation has. */
export interface Shared {
  publicHost: string
  /** The server's, with which that of each edge is compared. */
  version: string
}

/** @param actions what the person may do; without them there are no menus */
export function columnsFor(
  shared: Shared,
  actions: EdgeActions | undefined,
  onEdit: (edge: Edge) => void,
): readonly Column<Edge>[] {
  return [
    {
      head: 'Name',
      width: 'w-20',
      className: 'c-name',
      render: (edge) => (
        <>
          <b dir="auto">{edge.name}</b>{' '}
          {edge.place !== null && (
            <span className="sub" dir="auto">
              {edge.place}
            </span>
          )}
        </>
      ),
    },
    { head: 'Status', width: 'w-15', className: 'c-badge', render: (edge) => <Status edge={edge} /> },
    {
      head: 'Details',
      className: 'c-full c-details',
      render: (edge) => <Details edge={edge} shared={shared} />,
    },
    {
      head: 'Address',
      width: 'w-20',
      label: 'Address',
      className: 'c-full',
      render: ({ host }) =>
        host === null ? (
          <>
            <span className="mono">{shared.publicHost}</span> <span className="sub">public host</span>
          </>
        ) : (
          <span className="mono">{host}</span>
        ),
    },
    {
      head: 'Version',
      width: 'w-12',
      className: 'c-version',
      label: 'Version',
      render: ({ version }) =>
        version === null ? <span className="none">-</span> : <span className="mono">{version}</span>,
    },
    {
      head: 'Last 24 Hours',
      width: 'w-carried',
      className: 'c-carried',
      label: 'Last 24 Hours',
      render: ({ id }) => <TrafficCell id={id} />,
    },
    ...(actions
      ? [
          {
            head: 'Actions',
            hiddenHead: true,
            width: 'w-act',
            className: 'c-act',
            render: (edge: Edge) => <EdgeMenu edge={edge} actions={actions} onEdit={onEdit} />,
          },
        ]
      : []),
  ]
}

function Status({ edge }: { edge: Edge }) {
  const { kind, text } = standingOf(edge, useNow())
  return <Badge kind={kind}>{text}</Badge>
}

/** How many of its problems a row tells; the others are in the list of what needs a person. */
const MOST_TOLD = 3

/** What an edge is for, what it cannot do and why, and since when it is away. */
function Details({ edge, shared }: { edge: Edge; shared: Shared }) {
  const now = useNow()
  const troubles = troublesOf(edge)
  const count = Math.max(edge.problemCount, troubles.length)
  const certificate = certificateTrouble(edge, now)
  const isOther = edge.connected && edge.version !== null && edge.version !== shared.version
  return (
    <>
      <p className="what">
        {isBeside(edge)
          ? 'Beside the server, serves the console'
          : edge.servesConsole
            ? 'Serves the console'
            : 'Serves visitors'}
      </p>
      <Absence edge={edge} now={now} />
      {troubles.slice(0, MOST_TOLD).map((words) => (
        <p key={words} className="why bad">
          {words}
        </p>
      ))}
      {edge.connected && count > MOST_TOLD && (
        <p className="why">
          <Link to={urls.attention()}>{count - MOST_TOLD} more</Link>
        </p>
      )}
      {certificate !== undefined && <p className="why warn">{certificate}</p>}
      {isOther && (
        <p className="why warn">The server has version {shared.version}: install the same release on both.</p>
      )}
    </>
  )
}

/** Since when an edge is not there. */
function Absence({ edge, now }: { edge: Edge; now: number }) {
  const { isJoined, connected, lastSeen, joinableUntil } = edge
  if (connected) return null
  if (!isJoined)
    return canJoin(edge, now) && joinableUntil !== null ? (
      <p className="why">
        Its token works for <TimeLeft time={Date.parse(joinableUntil)} />
      </p>
    ) : (
      <p className="why">Its token has expired: make a new one.</p>
    )
  return (
    <p className="why bad">
      {lastSeen === null ? (
        'Not connected since the server started.'
      ) : (
        <>
          Last connected <RelativeTime time={Date.parse(lastSeen)} />.
        </>
      )}{' '}
      It usually keeps serving visitors; changes wait.
    </p>
  )
}

interface MenuProps {
  edge: Edge
  actions: EdgeActions
  onEdit: (edge: Edge) => void
}

function EdgeMenu({ edge, actions, onEdit }: MenuProps) {
  const drain = edge.isDrained
    ? { text: 'Undrain', icon: PlugZap, onSelect: () => actions.undrain(edge) }
    : { text: 'Drain', icon: Unplug, onSelect: () => actions.drain(edge) }
  const isFar = !isBeside(edge)
  return (
    <Menu
      label={`Actions for ${edge.name}`}
      groups={[
        [
          { text: 'Edit', icon: Pencil, onSelect: () => onEdit(edge) },
          edge.isJoined && drain,
          isFar && { text: 'New Join Token', icon: KeyRound, onSelect: () => void actions.renew(edge) },
        ],
        [
          isFar && {
            text: 'Remove',
            icon: Trash2,
            danger: true,
            onSelect: () => actions.remove(edge),
          },
        ],
      ]}
    />
  )
}
