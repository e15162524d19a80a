import { factors as endpoints } from '@postern/contract/endpoints/factors'
import type { Factors, Passkey } from '@postern/contract/sign-in/factors'
import { type UseQueryResult, useQueryClient } from '@tanstack/react-query'
import { Pencil, Plus, Trash2 } from 'lucide-react'
import { Suspense, useMemo, useState } from 'react'
import { errorMessage } from '../../api/api-error.ts'
import { hasPasskeys } from '../../api/passkeys.ts'
import { reload, useAnswer } from '../../api/queries.ts'
import { type FactorAct, FactorDialog } from '../../forms/account/FactorDialog.tsx'
import { AnswerTable } from '../../table/AnswerTable.tsx'
import { Button } from '../../ui/Button.tsx'
import { Day, RelativeTime } from '../../ui/data/Figures.tsx'
import { type Column, Skeleton } from '../../ui/data/Table.tsx'
import { Badge } from '../../ui/feedback/Badge.tsx'
import { EmptyState, ErrorPanel } from '../../ui/feedback/EmptyState.tsx'
import { Menu } from '../../ui/overlay/Menu.tsx'
import { serverUrls } from '../../util/urls.ts'
import './SecondFactorsCard.css'

/** What a person is asked for besides the password, or uses instead of it. */
export function SecondFactorsCard() {
  const queries = useQueryClient()
  const answer = useAnswer(endpoints.getFactors, {})
  const [act, setAct] = useState<FactorAct>()
  const { data: factors } = answer
  const close = () => {
    setAct(undefined)
    void reload(queries, { queryKey: [endpoints.getFactors.path] })
  }
  return (
    <section className="card" aria-labelledby="account-factors">
      <header className="card-head">
        <h2 id="account-factors">Second Factors</h2>
        {factors?.isRequired && <Badge kind="info">Required here</Badge>}
        <div className="acts">
          {factors?.passkeyHost && hasPasskeys() && (
            <Button size="sm" icon={Plus} onClick={() => setAct({ kind: 'add passkey' })}>
              Add Passkey
            </Button>
          )}
        </div>
      </header>
      {factors ? (
        <>
          <div className="card-body">
            <p className="hint">
              With one, nobody gets in by your password alone:{' '}
              <a href={serverUrls.secondFactors()} target="_blank" rel="noreferrer">
                documentation
              </a>
              .
            </p>
            <Facts factors={factors} onAct={setAct} />
          </div>
          <Passkeys answer={answer} onAct={setAct} />
        </>
      ) : answer.isError ? (
        <ErrorPanel
          title="Couldn't load your second factors"
          text={errorMessage(answer.error)}
          onRetry={() => void answer.refetch()}
          busy={answer.isFetching}
        />
      ) : (
        <div className="card-body">
          <Skeleton width={60} />
        </div>
      )}
      <Suspense>{factors && act && <FactorDialog act={act} factors={factors} onClose={close} />}</Suspense>
    </section>
  )
}

interface PartProps {
  onAct: (act: FactorAct) => void
}

function Facts({ factors, onAct }: PartProps & { factors: Factors }) {
  const { authenticator, recoveryCodes, passkeys } = factors
  const hasAny = authenticator !== null || passkeys.length > 0
  return (
    <dl className="factor-list">
      <div>
        <dt>Authenticator App</dt>
        <dd>
          {authenticator ? (
            <span>
              Set up <Day time={authenticator.created_at} />
              <LastUse time={authenticator.used_at} />
            </span>
          ) : (
            <span className="none">Not set up</span>
          )}
        </dd>
        <dd className="acts">
          <Button size="sm" onClick={() => onAct({ kind: 'set up app' })}>
            {authenticator ? 'Replace App' : 'Set Up App'}
          </Button>
          {authenticator && (
            <Button size="sm" onClick={() => onAct({ kind: 'remove app' })}>
              Remove App
            </Button>
          )}
        </dd>
      </div>
      {hasAny && (
        <div>
          <dt>Recovery Codes</dt>
          <dd>
            <span className={recoveryCodes < 3 ? 'few' : ''}>{leftText(recoveryCodes)}</span>
            <span className="sub">For when you have lost the others. Each works once.</span>
          </dd>
          <dd className="acts">
            <Button size="sm" onClick={() => onAct({ kind: 'new codes' })}>
              Make New Codes
            </Button>
          </dd>
        </div>
      )}
    </dl>
  )
}

function leftText(count: number): string {
  return count === 0 ? 'None left' : `${count} of 10 left`
}

function LastUse({ time }: { time: string | null }) {
  return (
    <span className="sub">
      {time === null ? (
        'Not used yet'
      ) : (
        <>
          Last used <RelativeTime time={Date.parse(time)} />
        </>
      )}
    </span>
  )
}

function Passkeys({ answer, onAct }: PartProps & { answer: UseQueryResult<Factors> }) {
  const columns = useMemo(() => [...COLUMNS, menuColumn(onAct)], [onAct])
  const { data } = answer
  const note = data && passkeyNote(data)
  const passkeys = { ...answer, data: data?.passkeys } as UseQueryResult<Passkey[]>
  return (
    <>
      {note && data.passkeys.length > 0 && <p className="hint passkey-note">{note}</p>}
      <AnswerTable
        inCard
        answer={passkeys}
        caption="Passkeys"
        noun="passkeys"
        columns={columns}
        empty={
          <EmptyState
            door="ajar"
            title="No Passkeys yet"
            text={
              note ??
              'A passkey on your device or security key signs you in without a password, or confirms it.'
            }
          />
        }
      />
    </>
  )
}

/** Why no passkey can be added here; undefined: one can. */
function passkeyNote({ passkeyHost }: Factors): string | undefined {
  if (passkeyHost === null)
    return `Passkeys work at a name only, and this is ${location.host}. Open the console at its name to add one.`
  return hasPasskeys() ? undefined : 'This browser has no passkeys.'
}

const COLUMNS: readonly Column<Passkey>[] = [
  { head: 'Passkey', className: 'c-name', render: ({ name }) => <b dir="auto">{name}</b> },
  {
    head: 'Works At',
    width: 'w-20',
    label: 'Works At',
    render: ({ host }) => <span className="mono">{host}</span>,
  },
  {
    head: 'Added',
    width: 'w-15',
    label: 'Added',
    render: ({ created_at }) => <Day time={created_at} />,
  },
  {
    head: 'Last Use',
    width: 'w-20',
    label: 'Last Use',
    render: ({ used_at }) =>
      used_at === null ? 'Not used yet' : <RelativeTime time={Date.parse(used_at)} />,
  },
]

function menuColumn(onAct: PartProps['onAct']): Column<Passkey> {
  return {
    head: 'Actions',
    hiddenHead: true,
    width: 'w-act',
    className: 'c-act',
    render: (passkey) => (
      <Menu
        label={`Actions for passkey ${passkey.name}`}
        groups={[
          [{ text: 'Rename', icon: Pencil, onSelect: () => onAct({ kind: 'rename passkey', passkey }) }],
          [
            {
              ...{ text: 'Remove', icon: Trash2, danger: true },
              onSelect: () => onAct({ kind: 'remove passkey', passkey }),
            },
          ],
        ]}
      />
    ),
  }
}
