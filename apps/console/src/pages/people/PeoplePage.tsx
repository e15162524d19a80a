import { people as endpoints } from '@postern/contract/endpoints/people'
import type { InvitedPerson, Person } from '@postern/contract/people/people'
import { Plus } from 'lucide-react'
import { lazy, Suspense, useCallback, useMemo, useState } from 'react'
import { useAnswer, useMe } from '../../api/queries.ts'
import { Page } from '../../components/Page.tsx'
import { useMailChannel } from '../../forms/people/use-mail-channel.ts'
import { AnswerTable } from '../../table/AnswerTable.tsx'
import { Button } from '../../ui/Button.tsx'
import { serverUrls } from '../../util/urls.ts'
import { columnsFor } from './columns.tsx'
import { usePersonActions } from './use-person-actions.tsx'

const PersonDialog = lazy(async () => ({
  default: (await import('../../forms/people/PersonDialog.tsx')).PersonDialog,
}))
const LinkDialog = lazy(async () => ({
  default: (await import('../../forms/people/LinkDialog.tsx')).LinkDialog,
}))
const InviteLinkDialog = lazy(async () => ({
  default: (await import('./InviteLinkDialog.tsx')).InviteLinkDialog,
}))

type Open =
  | { edited: Person | undefined }
  | { renewed: Person }
  | { invited: InvitedPerson; email: string | null }
  | null

/** Who may use the console, and in which role. */
export function PeoplePage() {
  const people = useAnswer(endpoints.listPeople, {})
  const ownId = useMe().data?.id
  const [open, setOpen] = useState<Open>(null)
  const showLink = useCallback(
    (invited: InvitedPerson, email: string | null) => setOpen({ invited, email }),
    [],
  )
  const canSend = useMailChannel()
  const askWhere = useCallback((renewed: Person) => setOpen({ renewed }), [])
  const actions = usePersonActions(showLink, canSend ? askWhere : undefined)
  const columns = useMemo(() => columnsFor(ownId, actions, (edited) => setOpen({ edited })), [ownId, actions])
  const close = () => setOpen(null)
  return (
    <Page title="People">
      <header className="head">
        <div>
          <h1>People</h1>
          <p className="lead">
            Who may use the console, and{' '}
            <a href={serverUrls.people()} target="_blank" rel="noreferrer">
              what each role may do
            </a>
            .
          </p>
        </div>
        <div className="acts">
          <Button variant="primary" icon={Plus} onClick={() => setOpen({ edited: undefined })}>
            Invite
          </Button>
        </div>
      </header>
      <AnswerTable answer={people} caption="People" noun="people" columns={columns} />
      <Suspense>
        {open && 'edited' in open && (
          <PersonDialog person={open.edited} onClose={close} onInvited={showLink} />
        )}
        {open && 'renewed' in open && (
          <LinkDialog person={open.renewed} onClose={close} onInvited={showLink} />
        )}
        {open && 'invited' in open && <InviteLinkDialog {...open} onClose={close} />}
      </Suspense>
    </Page>
  )
}
