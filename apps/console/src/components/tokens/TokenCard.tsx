import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { LIMITS } from '@postern/contract/limits'
import type { Node } from '@postern/contract/nodes'
import type { CreatedPat, Pat } from '@postern/contract/pats'
import { Ban, Plus, RefreshCw, Trash2 } from 'lucide-react'
import { Suspense, useCallback, useId, useState } from 'react'
import { useRules } from '../../api/rules.ts'
import { TokenDialog } from '../../forms/dialogs.ts'
import { CardSearch } from '../../table/CardSearch.tsx'
import { useAddressParams } from '../../table/list-params.ts'
import { NothingMatches, QueryTable } from '../../table/QueryTable.tsx'
import { useList } from '../../table/use-list.ts'
import { useSelection } from '../../table/use-selection.ts'
import { Button } from '../../ui/Button.tsx'
import { Day } from '../../ui/data/Figures.tsx'
import type { Column } from '../../ui/data/Table.tsx'
import { EmptyState } from '../../ui/feedback/EmptyState.tsx'
import { Menu } from '../../ui/overlay/Menu.tsx'
import { TokensBar } from '../many/bars.ts'
import { TokenInfoDialog } from './TokenInfoDialog.tsx'
import { LastUse, TokenStatus } from './token-cells.tsx'
import { useTokenActions } from './use-token-actions.tsx'
import './TokenCard.css'

/** There are no hints for uses, because a connected agent uses its token all the time. */
const USES_EVERY_MS = 60_000

const COLUMNS: readonly Column<Pat>[] = [
  {
    head: 'Name',
    className: 'c-name',
    sortBy: 'name',
    render: ({ name }) => <b dir="auto">{name}</b>,
  },
  { head: 'Status', width: 'w-15', className: 'c-badge', render: (token) => <TokenStatus token={token} /> },
  {
    head: 'Created',
    width: 'w-day',
    label: 'Created',
    sortBy: 'created_at',
    render: ({ created_at }) => <Day time={created_at} />,
  },
  {
    head: 'Last Used',
    width: 'w-20',
    label: 'Last Used',
    render: (token) => (
      <LastUse token={token}>
        {token.replaces !== null && <span className="sub">The first use revokes the old token</span>}
      </LastUse>
    ),
  },
  {
    head: 'Expires',
    width: 'w-day',
    label: 'Expires',
    render: ({ expireAt }) => <Day time={expireAt} />,
  },
]

/** The access tokens of a node, five at a time. */
export function TokenCard({ node }: { node: Node }) {
  const titleId = useId()
  const [isAdding, setAdding] = useState(false)
  const [rotated, setRotated] = useState<CreatedPat>()
  const renderMenu = useCallback((token: Pat) => <TokenMenu token={token} onRotated={setRotated} />, [])
  const tokens = useList({
    endpoint: endpoints.listTokens,
    state: useAddressParams(LIMITS.cardPageSize, 'tokens'),
    input: { params: { nodeId: node.id } },
    refetchInterval: USES_EVERY_MS,
  })
  // No link opens a row, so its box is what Tab stops at.
  const selection = useSelection({ list: tokens, isStop: true })
  const canTick = useRules().many.tokens
  const add = useRules().node.addToken(node) && (
    <Button size="sm" icon={Plus} onClick={() => setAdding(true)}>
      Add Token
    </Button>
  )
  return (
    <section className="card token-card" aria-labelledby={titleId}>
      <header className="card-head">
        <h2 id={titleId}>Node Access Tokens</h2>
        <div className="acts">
          <CardSearch list={tokens} label="Search access tokens" placeholder="Search name" />
          {add}
        </div>
      </header>
      <QueryTable
        inCard
        className="tokens"
        caption="Node Access Tokens"
        noun="access tokens"
        list={tokens}
        columns={COLUMNS}
        renderMenu={renderMenu}
        selection={canTick ? selection : undefined}
        empty={
          <EmptyState
            door="ajar"
            title="No Access Tokens yet"
            text="A machine needs one to connect as this node."
          >
            {add}
          </EmptyState>
        }
        noMatch={<NothingMatches list={tokens} text="No access tokens on this node match." />}
      />
      {rotated && <TokenInfoDialog token={rotated} onClose={() => setRotated(undefined)} />}
      <Suspense>
        {selection.count > 0 && <TokensBar nodeId={node.id} list={tokens} selection={selection} />}
        {isAdding && <TokenDialog node={node} onClose={() => setAdding(false)} />}
      </Suspense>
    </section>
  )
}

function TokenMenu({ token, onRotated }: { token: Pat; onRotated: (created: CreatedPat) => void }) {
  const actions = useTokenActions()
  const can = useRules().token
  const rotate = { text: 'Rotate', icon: RefreshCw, onSelect: () => actions.rotate(token, onRotated) }
  const remove = { text: 'Delete', icon: Trash2, danger: true, onSelect: () => actions.remove(token) }
  return (
    <Menu
      label={`Actions for token ${token.name}`}
      groups={[
        [
          can.rotate(token) && rotate,
          can.revoke(token) && { text: 'Revoke', icon: Ban, onSelect: () => actions.revoke(token) },
        ],
        [can.remove(token) && remove],
      ]}
    />
  )
}
