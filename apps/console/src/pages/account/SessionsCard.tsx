import { account as endpoints } from '@postern/contract/endpoints/people'
import type { OwnSession } from '@postern/contract/people/account'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { LogOut } from 'lucide-react'
import { useMemo } from 'react'
import type { Api } from '../../api/client.ts'
import { useApi } from '../../api/context.ts'
import { reload, useAnswer } from '../../api/queries.ts'
import { ask } from '../../components/ask.ts'
import { AnswerTable } from '../../table/AnswerTable.tsx'
import { Button, IconButton } from '../../ui/Button.tsx'
import { Day, RelativeTime } from '../../ui/data/Figures.tsx'
import type { Column } from '../../ui/data/Table.tsx'
import { Badge } from '../../ui/feedback/Badge.tsx'

/** Uses send no hints: there is one with almost every request. */
const USES_EVERY_MS = 60_000

const COLUMNS: readonly Column<OwnSession>[] = [
  {
    head: 'Browser',
    className: 'c-name',
    render: ({ browser, isThis }) => (
      <>
        <b>{browser || 'Unknown program'}</b> {isThis && <Badge kind="ok">This session</Badge>}
      </>
    ),
  },
  {
    head: 'Address',
    width: 'w-20',
    label: 'Address',
    render: ({ address }) => <span className="mono">{address ?? 'the server itself'}</span>,
  },
  { head: 'Last Use', width: 'w-15', label: 'Last Use', render: ({ lastUsedAt }) => ago(lastUsedAt) },
  { head: 'Began', width: 'w-15', label: 'Began', render: ({ beganAt }) => ago(beganAt) },
  {
    head: 'Ends',
    width: 'w-15',
    label: 'Ends',
    render: ({ endsAt }) => <Day time={endsAt} />,
  },
]

const ago = (time: string) => <RelativeTime time={Date.parse(time)} />

/** Where the person is signed in. */
export function SessionsCard() {
  const api = useApi()
  const queries = useQueryClient()
  const sessions = useAnswer(endpoints.listSessions, {}, { refetchInterval: USES_EVERY_MS })
  const columns = useMemo(() => [...COLUMNS, endColumn(api, queries)], [api, queries])
  const hasOthers = (sessions.data ?? []).length > 1
  return (
    <section className="card" aria-labelledby="account-sessions">
      <header className="card-head">
        <h2 id="account-sessions">Sessions</h2>
        {hasOthers && (
          <Button size="sm" icon={LogOut} onClick={() => void endOthers(api, queries)}>
            End All Others
          </Button>
        )}
      </header>
      <AnswerTable inCard answer={sessions} caption="Sessions" noun="sessions" columns={columns} />
    </section>
  )
}

function endColumn(api: Api, queries: QueryClient): Column<OwnSession> {
  return {
    head: 'Actions',
    hiddenHead: true,
    width: 'w-act',
    className: 'c-act',
    // This one is ended by signing out.
    render: (session) =>
      !session.isThis && (
        <IconButton
          label={`End the session of ${nameOf(session)}`}
          icon={LogOut}
          tipSide="left"
          onClick={() => void end(api, queries, session)}
        />
      ),
  }
}

const nameOf = ({ browser }: OwnSession) => browser || 'an unknown program'

const refresh = (queries: QueryClient) => () => reload(queries, { queryKey: [endpoints.listSessions.path] })

function end(api: Api, queries: QueryClient, session: OwnSession) {
  return ask({
    question: {
      title: 'End session',
      description: (
        <>
          <b>{nameOf(session)}</b> is signed out within seconds, and must sign in again.
        </>
      ),
      icon: LogOut,
      acceptButtonText: 'Yes, end it!',
    },
    act: () => api.call(endpoints.endSession, { params: { id: session.id } }),
    done: 'Session ended successfully!',
    subject: nameOf(session),
    refresh: refresh(queries),
  })
}

function endOthers(api: Api, queries: QueryClient) {
  return ask({
    question: {
      title: 'End all other sessions',
      description:
        'Every other browser and program that is signed in with your name is signed out within seconds.',
      icon: LogOut,
      acceptButtonText: 'Yes, end them!',
    },
    act: () => api.call(endpoints.endOtherSessions, {}),
    done: 'Sessions ended successfully!',
    subject: 'This session stays',
    refresh: refresh(queries),
  })
}
