import type { CreatedPat } from '@postern/contract/pats'
import { CopyField } from '../../ui/CopyButton.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { confirm } from '../../ui/overlay/confirm.ts'
import { InfoDialog } from '../../ui/overlay/Dialog.tsx'
import { formatDate } from '../../util/time.ts'
import { serverUrls } from '../../util/urls.ts'
import { useLeaveGuard } from '../use-leave-guard.ts'
import './TokenInfoDialog.css'

interface Props {
  token: CreatedPat
  onClose: () => void
}

/** After a creation: shows the value of a token, only this once. */
export function TokenInfoDialog({ token, onClose }: Props) {
  useLeaveGuard(true, () => confirmLeave(token.name))
  return (
    <InfoDialog
      title="New Access Token Generated"
      description="Your new Personal Access Token has been successfully created. Make sure to store it securely, as it will not be shown again."
      oneTime
      onClose={onClose}
    >
      <dl className="token-facts">
        <div>
          <dt>Token name</dt>
          <dd>{token.name}</dd>
        </div>
        {token.expireAt && (
          <div>
            <dt>Expires</dt>
            <dd className="tn">{formatDate(token.expireAt)}</dd>
          </div>
        )}
      </dl>
      <div className="field">
        <span className="label">Access token</span>
        <CopyField label="Access token" value={token.token} />
      </div>
      <Banner kind="warn">
        <p>The token is only visible once. Make sure to store it securely.</p>
        {token.replaces !== null && (
          <p>
            Connect the machine with it: the old token is revoked when this one is used for the first time.
          </p>
        )}
      </Banner>
      <p className="token-links">
        Use it with the{' '}
        {LINKS.map(({ href, text }, index) => (
          <span key={href}>
            {index > 0 && (index === LINKS.length - 1 ? ' or the ' : ', the ')}
            <a href={href} target="_blank" rel="noreferrer">
              {text}
            </a>
          </span>
        ))}
        .
      </p>
    </InfoDialog>
  )
}

const LINKS = [
  { href: serverUrls.cli(), text: 'CLI tool' },
  { href: serverUrls.docker(), text: 'Docker client' },
  { href: serverUrls.kubernetes(), text: 'Kubernetes gateway' },
]

function confirmLeave(name: string): Promise<boolean> {
  return confirm({
    title: 'Leave without the token?',
    description: (
      <>
        The value of <b>{name}</b> is visible only once. Copy it first.
      </>
    ),
    variant: 'danger',
    cancelButtonText: 'Stay',
    acceptButtonText: 'Leave',
  })
}
