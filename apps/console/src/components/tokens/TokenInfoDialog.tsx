import type { CreatedPat } from '@postern/contract/pats'
import { serverUrls } from '../../util/urls.ts'
import { OneTimeToken } from './OneTimeToken.tsx'

interface Props {
  token: CreatedPat
  onClose: () => void
}

/** The value of an access token of a node. */
export function TokenInfoDialog({ token, onClose }: Props) {
  return (
    <OneTimeToken
      title="New Access Token Generated"
      description="Your new Personal Access Token has been successfully created. Make sure to store it securely, as it will not be shown again."
      label="Access token"
      token={token}
      warning={
        token.replaces !== null && (
          <p>
            Connect the machine with it: the old token is revoked when this one is used for the first time.
          </p>
        )
      }
      onClose={onClose}
    >
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
    </OneTimeToken>
  )
}

const LINKS = [
  { href: serverUrls.cli(), text: 'CLI tool' },
  { href: serverUrls.docker(), text: 'Docker client' },
  { href: serverUrls.kubernetes(), text: 'Kubernetes gateway' },
]
