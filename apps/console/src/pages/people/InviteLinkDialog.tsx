import type { InvitedPerson } from '@postern/contract/people/people'
import { useConfig } from '../../api/queries.ts'
import { useLeaveGuard } from '../../components/use-leave-guard.ts'
import { CopyField } from '../../ui/CopyButton.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { confirm } from '../../ui/overlay/confirm.ts'
import { InfoDialog } from '../../ui/overlay/Dialog.tsx'
import { formatMoment } from '../../util/time.ts'
import { urls } from '../../util/urls.ts'

interface Props {
  invited: InvitedPerson
  /** Where it was to be sent by e-mail; null: nowhere. */
  email: string | null
  onClose: () => void
}

/** The link for a person, shown only this once. */
export function InviteLinkDialog({ invited, email, onClose }: Props) {
  const { username, token, invite, mail, mailProblem } = invited
  const config = useConfig().data
  useLeaveGuard(true, () => confirmLeave(username))
  // Nobody else reaches the console at this machine's own names.
  const origin = isLocal(location.hostname) ? (config?.publicUrl ?? location.origin) : location.origin
  return (
    <InfoDialog
      title={invite?.isReset ? 'Link for a New Password' : 'Invitation'}
      description={
        <>
          {mail === 'sent' ? 'The same link went by e-mail to ' : 'Send this link to '}
          <b dir="auto">{username}</b>
          {mail !== 'sent' && ' in a way that nobody else reads'}.
        </>
      }
      oneTime
      onClose={onClose}
    >
      {mail === 'sent' && (
        <Banner kind="info">
          <p>Sent to {email}.</p>
        </Banner>
      )}
      {mail === 'failed' && (
        <Banner kind="bad">
          <p>Not sent to {email}.</p>
          <p>{mailProblem}</p>
        </Banner>
      )}
      <div className="field">
        <span className="label">Link</span>
        <CopyField label="Link" value={`${origin}${urls.invite()}#${token}`} />
      </div>
      <Banner kind="warn">
        <p>
          The link is only visible now. It works once
          {invite && <>, until {formatMoment(invite.endsAt)}</>}.
        </p>
        {invite?.isReset && (
          <p>When it is used, the old password, all sessions, API tokens and connected accounts end.</p>
        )}
      </Banner>
    </InfoDialog>
  )
}

const isLocal = (host: string) => ['localhost', '127.0.0.1', '[::1]'].includes(host)

function confirmLeave(username: string): Promise<boolean> {
  return confirm({
    title: 'Leave without the link?',
    description: (
      <>
        The link for <b dir="auto">{username}</b> is visible only once. Copy it first, or make another one
        later.
      </>
    ),
    variant: 'danger',
    cancelButtonText: 'Stay',
    acceptButtonText: 'Leave',
  })
}
