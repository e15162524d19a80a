import { identities as endpoints } from '@postern/contract/endpoints/console-sign-in'
import { login } from '@postern/contract/endpoints/login'
import type { Identity } from '@postern/contract/sign-in/provider-login'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { Plus, Unlink } from 'lucide-react'
import { lazy, Suspense, useEffect, useEffectEvent, useMemo, useState } from 'react'
import { useApi } from '../../api/context.ts'
import { isHome } from '../../api/provider-sign-in.ts'
import { keyOf, useAnswer } from '../../api/queries.ts'
import { attempt } from '../../components/ask.ts'
import type { ProviderAct } from '../../forms/account/ProviderActDialog.tsx'
import { takeTicket } from '../../stores/brought-ticket.ts'
import { AnswerTable } from '../../table/AnswerTable.tsx'
import { Button, IconButton } from '../../ui/Button.tsx'
import { Day, RelativeTime } from '../../ui/data/Figures.tsx'
import type { Column } from '../../ui/data/Table.tsx'
import { EmptyState } from '../../ui/feedback/EmptyState.tsx'
import { toast } from '../../ui/feedback/Toasts.tsx'
import { serverUrls, urls } from '../../util/urls.ts'
import './ProvidersCard.css'

const ProviderActDialog = lazy(async () => ({
  default: (await import('../../forms/account/ProviderActDialog.tsx')).ProviderActDialog,
}))

const COLUMNS: readonly Column<Identity>[] = [
  { head: 'Provider', className: 'c-name', render: ({ provider }) => <b dir="auto">{provider.name}</b> },
  {
    head: 'E-Mail',
    width: 'w-30',
    label: 'E-Mail',
    render: ({ email }) => email ?? <span className="none">Not known</span>,
  },
  {
    head: 'Connected',
    width: 'w-15',
    label: 'Connected',
    render: ({ connectedAt }) => <Day time={connectedAt} />,
  },
  {
    head: 'Last Use',
    width: 'w-20',
    label: 'Last Use',
    render: ({ lastUsedAt }) =>
      lastUsedAt === null ? 'Not used yet' : <RelativeTime time={Date.parse(lastUsedAt)} />,
  },
]

/** The accounts at providers with which the person signs in; nothing where there are neither. */
export function ProvidersCard() {
  const queries = useQueryClient()
  const connected = useAnswer(endpoints.listIdentities, {})
  const ways = useAnswer(login.getSignInWays, {}).data
  const [act, setAct] = useState<ProviderAct>()
  const isMade = connected.data?.some((identity) => identity.isMade) ?? false
  const columns = useMemo(() => {
    const column = disconnectColumn((identity) => setAct({ kind: 'disconnect', identity }))
    return isMade ? COLUMNS : [...COLUMNS, column]
  }, [isMade])
  useReturn(queries)
  const offered = (ways?.providers ?? []).filter(
    ({ id }) => !connected.data?.some(({ provider }) => provider.id === id),
  )
  const isHere = ways !== undefined && isHome(ways)
  if (!ways?.providers.length && !connected.data?.length) return null
  return (
    <section className="card providers-card" aria-labelledby="account-providers">
      <header className="card-head">
        <h2 id="account-providers">Sign-In by Providers</h2>
        {isHere && !isMade && (
          <div className="acts">
            {offered.map((provider) => (
              <Button
                key={provider.id}
                size="sm"
                icon={Plus}
                onClick={() => setAct({ kind: 'connect', provider })}
              >
                <span title={provider.name}>
                  Connect <bdi>{provider.name}</bdi>
                </span>
              </Button>
            ))}
          </div>
        )}
      </header>
      {isMade && (
        <p className="hint providers-note">
          Your account was made by a sign-in at this provider, and signs in by it alone:{' '}
          <a href={serverUrls.consoleSignIn()} target="_blank" rel="noreferrer">
            documentation
          </a>
          .
        </p>
      )}
      {ways && !isHere && !isMade && offered.length > 0 && (
        <p className="hint providers-note">
          Accounts can be connected at <a href={ways.origin + urls.account()}>{ways.origin}</a> only.
        </p>
      )}
      <AnswerTable
        inCard
        answer={connected}
        caption="Connected accounts"
        noun="connected accounts"
        columns={columns}
        empty={
          <EmptyState
            door="ajar"
            title="None connected yet"
            text="Connect an account that you have elsewhere, and sign in with it instead of your password."
          />
        }
      />
      <Suspense>{act && <ProviderActDialog act={act} onClose={() => setAct(undefined)} />}</Suspense>
    </section>
  )
}

/** Connects the account with which the browser has come back. */
function useReturn(queries: QueryClient): void {
  const api = useApi()
  const connect = useEffectEvent(async (ticket: string) => {
    await attempt(async () => {
      const list = await api.call(endpoints.addIdentity, { body: { ticket } })
      queries.setQueryData(keyOf(endpoints.listIdentities, {}), list)
      const newest = list.reduce((one, other) => (other.id > one.id ? other : one))
      toast.success('Account connected successfully!', newest.provider.name)
    })
  })
  useEffect(() => {
    const ticket = takeTicket()
    if (ticket !== null) void connect(ticket)
  }, [])
}

function disconnectColumn(onDisconnect: (identity: Identity) => void): Column<Identity> {
  return {
    head: 'Actions',
    hiddenHead: true,
    width: 'w-act',
    className: 'c-act',
    render: (identity) => (
      <IconButton
        label={`Disconnect ${identity.provider.name}`}
        icon={Unlink}
        tipSide="left"
        onClick={() => onDisconnect(identity)}
      />
    ),
  }
}
