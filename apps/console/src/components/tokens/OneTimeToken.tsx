import type { ReactNode } from 'react'
import { CopyField } from '../../ui/CopyButton.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { confirm } from '../../ui/overlay/confirm.ts'
import { InfoDialog } from '../../ui/overlay/Dialog.tsx'
import { formatDate } from '../../util/time.ts'
import { useLeaveGuard } from '../use-leave-guard.ts'
import './TokenInfoDialog.css'

interface Props {
  title: string
  description: string
  /** What its value is called. */
  label: string
  token: { name: string; expireAt: string | null; token: string }
  /** A second paragraph of the warning. */
  warning?: ReactNode
  children: ReactNode
  onClose: () => void
}

/** After a creation: shows the value of a token, only this once. */
export function OneTimeToken({ title, description, label, token, warning, children, onClose }: Props) {
  useLeaveGuard(true, () => confirmLeave(token.name))
  return (
    <InfoDialog title={title} description={description} oneTime onClose={onClose}>
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
        <span className="label">{label}</span>
        <CopyField label={label} value={token.token} />
      </div>
      <Banner kind="warn">
        <p>The token is only visible once. Make sure to store it securely.</p>
        {warning}
      </Banner>
      <p className="token-links">{children}</p>
    </InfoDialog>
  )
}

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
