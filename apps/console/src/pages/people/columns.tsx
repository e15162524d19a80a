import type { Person } from '@postern/contract/people/people'
import { Ban, KeyRound, Link, LogOut, Pencil, Power, ShieldOff, Trash2, Unlink } from 'lucide-react'
import { ROLES } from '../../components/people/roles.ts'
import { RelativeTime, useNow } from '../../ui/data/Figures.tsx'
import type { Column } from '../../ui/data/Table.tsx'
import { Badge } from '../../ui/feedback/Badge.tsx'
import { Menu } from '../../ui/overlay/Menu.tsx'
import { formatMoment } from '../../util/time.ts'
import { reachText } from './reach-text.ts'
import type { PersonActions } from './use-person-actions.tsx'

/** @param ownId of the person who looks */
export function columnsFor(
  ownId: number | undefined,
  actions: PersonActions,
  onEdit: (person: Person) => void,
): readonly Column<Person>[] {
  return [
    {
      head: 'Name',
      width: 'w-20',
      className: 'c-name',
      render: ({ id, username }) => (
        <>
          <b dir="auto">{username}</b> {id === ownId && <span className="sub">you</span>}
        </>
      ),
    },
    { head: 'Status', width: 'w-12', className: 'c-badge', render: (person) => <State {...person} /> },
    {
      head: 'Role',
      width: 'w-15',
      label: 'Role',
      render: ({ role, apiTokens, identities, passkeys }) => (
        <>
          {ROLES[role].text}
          <Count of={apiTokens} noun="API token" />
          <Count of={identities} noun="connected account" />
          <Count of={passkeys} noun="passkey" />
        </>
      ),
    },
    {
      head: 'Sees',
      label: 'Sees',
      className: 'c-full',
      render: ({ reachNames }) => <span dir="auto">{reachText(reachNames)}</span>,
    },
    {
      head: 'Last Sign-In',
      width: 'w-20',
      label: 'Last Sign-In',
      className: 'c-full',
      render: (person) => <LastSignIn {...person} />,
    },
    {
      head: 'Actions',
      hiddenHead: true,
      width: 'w-act',
      className: 'c-act',
      render: (person) => <PersonMenu {...{ person, actions, onEdit }} isSelf={person.id === ownId} />,
    },
  ]
}

const STATES = {
  active: { kind: 'ok', text: 'Active' },
  invited: { kind: 'info', text: 'Invited' },
  disabled: { kind: 'mute', text: 'Disabled' },
} as const

function State({ state }: Person) {
  return <Badge kind={STATES[state].kind}>{STATES[state].text}</Badge>
}

function LastSignIn({ lastSignInAt, invite, state }: Person) {
  const now = useNow()
  return (
    <>
      {lastSignInAt === null ? (
        <span className="none">{state === 'active' ? '-' : 'Never'}</span>
      ) : (
        <RelativeTime time={Date.parse(lastSignInAt)} />
      )}
      {invite && state !== 'disabled' && (
        <p className="sub">
          {Date.parse(invite.endsAt) > now
            ? `Link works until ${formatMoment(invite.endsAt)}`
            : 'Link has expired'}
        </p>
      )}
    </>
  )
}

interface MenuProps {
  person: Person
  isSelf: boolean
  actions: PersonActions
  onEdit: (person: Person) => void
}

function PersonMenu({ person, isSelf, actions, onEdit }: MenuProps) {
  const { state, username, sessions, apiTokens, identities, hasFactor } = person
  const isOff = state === 'disabled'
  const reset = { text: 'New Password', icon: KeyRound, onSelect: () => actions.renew(person) }
  const again = { text: 'New Link', icon: Link, onSelect: () => actions.renew(person) }
  const turn = isOff
    ? { text: 'Enable', icon: Power, onSelect: () => actions.enable(person) }
    : { text: 'Disable', icon: Power, onSelect: () => actions.disable(person, isSelf) }
  return (
    <Menu
      label={`Actions for ${username}`}
      groups={[
        [
          { text: 'Edit', icon: Pencil, onSelect: () => onEdit(person) },
          !isOff && (state === 'invited' ? again : reset),
          sessions > 0 && {
            text: 'End All Sessions',
            icon: LogOut,
            onSelect: () => actions.endSessions(person, isSelf),
          },
          turn,
        ],
        [
          apiTokens > 0 && {
            text: 'End API Tokens',
            icon: Ban,
            danger: true,
            onSelect: () => actions.endTokens(person),
          },
          // One's own are on the page of the account.
          hasFactor &&
            !isSelf && {
              text: 'Remove Second Factors',
              icon: ShieldOff,
              danger: true,
              onSelect: () => actions.removeFactors(person),
            },
          identities > 0 &&
            !isSelf && {
              text: 'Disconnect Providers',
              icon: Unlink,
              danger: true,
              onSelect: () => actions.disconnect(person),
            },
          { text: 'Delete', icon: Trash2, danger: true, onSelect: () => actions.remove(person, isSelf) },
        ],
      ]}
    />
  )
}

function Count({ of, noun }: { of: number; noun: string }) {
  return of > 0 && <span className="sub">{of === 1 ? `1 ${noun}` : `${of} ${noun}s`}</span>
}
