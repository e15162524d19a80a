import type { Domain, SignInOutcome, SignInRecord } from '@postern/contract/domains'
import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { LIMITS } from '@postern/contract/limits'
import { useQueryClient } from '@tanstack/react-query'
import { UserX } from 'lucide-react'
import { useCallback } from 'react'
import { useApi } from '../../api/context.ts'
import { reload } from '../../api/queries.ts'
import { useRules } from '../../api/rules.ts'
import { ask } from '../../components/ask.ts'
import { useCardParams } from '../../table/list-params.ts'
import { QueryTable } from '../../table/QueryTable.tsx'
import { useList } from '../../table/use-list.ts'
import type { Column } from '../../ui/data/Table.tsx'
import { Badge } from '../../ui/feedback/Badge.tsx'
import { Menu } from '../../ui/overlay/Menu.tsx'
import { formatMoment } from '../../util/time.ts'

const OUTCOMES: Readonly<Record<SignInOutcome, { look: 'ok' | 'bad' | 'mute'; text: string }>> = {
  'signed-in': { look: 'ok', text: 'Signed in' },
  refused: { look: 'bad', text: 'Refused' },
  'signed-out': { look: 'mute', text: 'Signed out' },
}

const COLUMNS: readonly Column<SignInRecord>[] = [
  {
    head: 'Email',
    width: 'w-38',
    className: 'c-name',
    render: ({ email }) => <span className="mono">{email}</span>,
  },
  { head: 'Result', width: 'w-20', className: 'c-badge', render: (record) => <Outcome record={record} /> },
  { head: 'Address', className: 'mono', label: 'Address', render: ({ address }) => address },
  {
    head: 'Time',
    className: 'tn',
    label: 'Time',
    render: ({ at }) => <time dateTime={at}>{formatMoment(at)}</time>,
  },
]

function Outcome({ record: { outcome } }: { record: SignInRecord }) {
  const { look, text } = OUTCOMES[outcome]
  return <Badge kind={look}>{text}</Badge>
}

/** Who came to the sign-in of a domain, below its row. */
export function DomainSignIns({ domain }: { domain: Domain }) {
  const signIns = useList({
    endpoint: endpoints.listSignIns,
    state: useCardParams(LIMITS.cardPageSize),
    input: { params: { id: domain.id } },
  })
  const renderMenu = useCallback(
    (record: SignInRecord) => <SignInMenu domain={domain} record={record} />,
    [domain],
  )
  return (
    <section className="sub-svcs" aria-label={`Sign-ins of ${domain.domain}`}>
      <h2>Sign-ins of the last 30 days</h2>
      <QueryTable
        inCard
        className="sign-ins"
        caption={`Sign-ins of ${domain.domain}`}
        noun="sign-ins"
        list={signIns}
        columns={COLUMNS}
        renderMenu={renderMenu}
        empty={<p className="none">Nobody has signed in yet.</p>}
      />
    </section>
  )
}

function SignInMenu({ domain, record: { email } }: { domain: Domain; record: SignInRecord }) {
  const api = useApi()
  const queries = useQueryClient()
  const end = () =>
    ask({
      question: {
        title: 'End sessions',
        description: `This ends all sessions of ${email} at ${domain.domain} and closes open connections. While the address is on the list, its owner can sign in again.`,
        variant: 'danger',
        acceptButtonText: 'Yes, end them!',
      },
      act: () => api.call(endpoints.endSessions, { params: { id: domain.id }, body: { email } }),
      done: 'Sessions ended successfully!',
      subject: email,
      refresh: () => reload(queries, { queryKey: [endpoints.listDomains.path] }),
    })
  const can = useRules().domain
  const item = { text: 'End Sessions', icon: UserX, danger: true, onSelect: end }
  return <Menu label={`Actions for ${email}`} groups={[[can.endSessions(domain, email) && item]]} />
}
