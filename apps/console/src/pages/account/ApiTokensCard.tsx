import type { ApiToken } from '@postern/contract/api-tokens'
import { apiTokens as endpoints } from '@postern/contract/endpoints/api-tokens'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { Ban, Plus, Trash2 } from 'lucide-react'
import { lazy, Suspense, useMemo, useState } from 'react'
import type { Api } from '../../api/client.ts'
import { useApi } from '../../api/context.ts'
import { reload, useAnswer, useMe } from '../../api/queries.ts'
import { ask } from '../../components/ask.ts'
import { ROLES } from '../../components/people/roles.ts'
import { LastUse, TokenStatus } from '../../components/tokens/token-cells.tsx'
import { tokenStatus } from '../../components/tokens/token-status.ts'
import { AnswerTable } from '../../table/AnswerTable.tsx'
import { Button } from '../../ui/Button.tsx'
import { Day } from '../../ui/data/Figures.tsx'
import type { Column } from '../../ui/data/Table.tsx'
import { EmptyState } from '../../ui/feedback/EmptyState.tsx'
import type { ConfirmOptions } from '../../ui/overlay/confirm.ts'
import { Menu } from '../../ui/overlay/Menu.tsx'

const ApiTokenDialog = lazy(async () => ({
  default: (await import('../../forms/account/ApiTokenDialog.tsx')).ApiTokenDialog,
}))

/** Uses send no hints: there is one with every request of a program. */
const USES_EVERY_MS = 60_000

const COLUMNS: readonly Column<ApiToken>[] = [
  { head: 'Name', className: 'c-name', render: ({ name }) => <b dir="auto">{name}</b> },
  {
    head: 'May',
    width: 'w-20',
    label: 'May',
    render: ({ role, reach }) => (
      <>
        {ROLES[role].text}
        {reach && <span className="sub">{reachText(reach)}</span>}
      </>
    ),
  },
  { head: 'Status', width: 'w-15', className: 'c-badge', render: (token) => <TokenStatus token={token} /> },
  { head: 'Last Used', width: 'w-20', label: 'Last Used', render: (token) => <LastUse token={token} /> },
  { head: 'Expires', width: 'w-day', label: 'Expires', render: ({ expireAt }) => <Day time={expireAt} /> },
]

/** The tokens of programs that act in one's name. */
export function ApiTokensCard() {
  const api = useApi()
  const queries = useQueryClient()
  const me = useMe().data
  const tokens = useAnswer(endpoints.listApiTokens, {}, { refetchInterval: USES_EVERY_MS })
  const [isAdding, setAdding] = useState(false)
  const columns = useMemo(() => [...COLUMNS, menuColumn(api, queries)], [api, queries])
  const add = (
    <Button size="sm" icon={Plus} disabled={!me} onClick={() => setAdding(true)}>
      Add Token
    </Button>
  )
  return (
    <section className="card" aria-labelledby="account-tokens">
      <header className="card-head">
        <h2 id="account-tokens">API Tokens</h2>
        <div className="acts">{add}</div>
      </header>
      <AnswerTable
        inCard
        answer={tokens}
        caption="API Tokens"
        noun="API tokens"
        columns={columns}
        empty={
          <EmptyState
            door="ajar"
            title="No API Tokens yet"
            text="A program needs one to use the API in your name."
          />
        }
      />
      <Suspense>{isAdding && me && <ApiTokenDialog me={me} onClose={() => setAdding(false)} />}</Suspense>
    </section>
  )
}

function reachText({ nodes, domains }: NonNullable<ApiToken['reach']>): string {
  return `${countText(nodes.length, 'node')}, ${countText(domains.length, 'domain')}`
}

function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function menuColumn(api: Api, queries: QueryClient): Column<ApiToken> {
  return {
    head: 'Actions',
    hiddenHead: true,
    width: 'w-act',
    className: 'c-act',
    render: (token) => (
      <Menu
        label={`Actions for API token ${token.name}`}
        groups={[
          [
            tokenStatus(token, Date.now()) === 'Active' && {
              text: 'Revoke',
              icon: Ban,
              onSelect: () => void revoke(api, queries, token),
            },
          ],
          [{ text: 'Delete', icon: Trash2, danger: true, onSelect: () => void remove(api, queries, token) }],
        ]}
      />
    ),
  }
}

const refresh = (queries: QueryClient) => () => reload(queries, { queryKey: [endpoints.listApiTokens.path] })

function revoke(api: Api, queries: QueryClient, { id, name }: ApiToken) {
  return ask({
    question: {
      ...questionAbout(name),
      title: 'Revoke API Token',
      icon: Ban,
      acceptButtonText: 'Yes, revoke it!',
    },
    act: () => api.call(endpoints.revokeApiToken, { params: { id } }),
    done: 'API token revoked successfully!',
    subject: name,
    refresh: refresh(queries),
  })
}

function remove(api: Api, queries: QueryClient, { id, name }: ApiToken) {
  return ask({
    question: {
      ...questionAbout(name),
      title: 'Delete API Token',
      icon: Trash2,
      acceptButtonText: 'Yes, delete it!',
    },
    act: () => api.call(endpoints.deleteApiToken, { params: { id } }),
    done: 'API token deleted successfully!',
    subject: name,
    refresh: refresh(queries),
  })
}

function questionAbout(name: string): Pick<ConfirmOptions, 'description' | 'variant'> {
  return {
    description: (
      <>
        The program that uses <b dir="auto">{name}</b> is refused from its next request on. This cannot be
        undone.
      </>
    ),
    variant: 'danger',
  }
}
