import { invites as endpoints } from '@postern/contract/endpoints/people'
import type { OpenInvite } from '@postern/contract/people/people'
import type { SignInWays } from '@postern/contract/sign-in/provider-login'
import { type ComponentProps, Suspense, useEffect, useState } from 'react'
import { ApiError, errorMessage } from '../../api/api-error.ts'
import { useApi } from '../../api/context.ts'
import { useSignInWays } from '../../api/provider-sign-in.ts'
import { LoginFrame } from '../../components/sign-in/LoginFrame.tsx'
import { ProviderButtons } from '../../components/sign-in/lazy-provider-buttons.ts'
import { Button, Spinner } from '../../ui/Button.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { urls } from '../../util/urls.ts'
import { AcceptForm } from './AcceptForm.tsx'

type Found = { invite: OpenInvite } | { problem: string; isDead: boolean } | 'set'

/** A person who was invited, or has forgotten the password, chooses one and is signed in. */
export function InvitePage({ token }: { token: string }) {
  const api = useApi()
  // Asked for with the link, so that all of the page comes at once.
  const ways = useSignInWays()
  const [found, setFound] = useState<Found>()
  const [tries, setTries] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each try asks again
  useEffect(() => {
    let isOver = false
    const tell = (answer: Found) => {
      if (!isOver) setFound(answer)
    }
    api.call(endpoints.readInvite, { body: { token } }).then(
      (invite) => tell({ invite }),
      (error: unknown) => {
        console.warn('The link could not be read', error)
        tell({ problem: inviteErrorMessage(error), isDead: isDead(error) })
      },
    )
    return () => {
      isOver = true
    }
  }, [api, token, tries])
  return (
    <LoginFrame
      title={isReset(found) ? 'New password' : 'Welcome'}
      lead={
        <>
          The console of <span className="mono">{location.host}</span>
        </>
      }
    >
      {found === undefined ? (
        <p>
          <Spinner /> Reading the link
        </p>
      ) : found === 'set' ? (
        <div className="stackf">
          <p>Your password is set. Sign in with it and your second factor.</p>
          <SignInLink />
        </div>
      ) : 'invite' in found ? (
        <WaysIn
          ways={ways}
          token={token}
          invite={found.invite}
          onDead={() => setFound({ problem: DEAD, isDead: true })}
          onSet={() => setFound('set')}
        />
      ) : (
        <div className="stackf">
          <Banner kind="bad" role="alert">
            <p>{found.problem}</p>
          </Banner>
          {found.isDead ? (
            <SignInLink />
          ) : (
            <Button block onClick={() => setTries(tries + 1)}>
              Try Again
            </Button>
          )}
        </div>
      )}
    </LoginFrame>
  )
}

interface WaysProps extends Omit<ComponentProps<typeof AcceptForm>, 'onPasswordOff'> {
  ways: SignInWays | undefined
}

/** A password, or the sign-in of a provider. */
function WaysIn({ ways, ...props }: WaysProps) {
  const { token, invite } = props
  const [passwordOff, setPasswordOff] = useState(invite.mayUsePassword ? undefined : ONLY_PROVIDERS)
  const [failure, setFailure] = useState<string | null>(null)
  return (
    <>
      {passwordOff === undefined ? (
        <AcceptForm {...props} onPasswordOff={setPasswordOff} />
      ) : (
        <div className="stackf">
          <Banner kind="info" role="status">
            <p>{passwordOff}</p>
          </Banner>
        </div>
      )}
      {failure && (
        <Banner kind="bad" role="alert" onClose={() => setFailure(null)}>
          <p>{failure}</p>
        </Banner>
      )}
      {ways && (
        <Suspense>
          {passwordOff === undefined && <p className="or">or</p>}
          <ProviderButtons
            ways={ways}
            invite={token}
            path={`${urls.invite()}#${token}`}
            onFailure={setFailure}
          />
        </Suspense>
      )}
    </>
  )
}

const ONLY_PROVIDERS = 'People sign in here by a provider. Choose the one that you have an account at.'

const isReset = (found: Found | undefined) =>
  found === 'set' || (found !== undefined && 'invite' in found && found.invite.isReset)

const SignInLink = () => (
  <a className="btn block" href={urls.login()}>
    Go to the sign-in
  </a>
)

const DEAD =
  'This link does not work any more. It works once, for 48 hours. Ask an administrator for a new one.'

/** The link was used, has ended or was never one. */
export function isDead(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 404 || error.status === 422)
}

export function inviteErrorMessage(error: unknown): string {
  return isDead(error) ? DEAD : errorMessage(error)
}
