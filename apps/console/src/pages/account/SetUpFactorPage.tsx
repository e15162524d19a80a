import { factors as endpoints } from '@postern/contract/endpoints/factors'
import { KeyRound, Smartphone } from 'lucide-react'
import { Suspense, useEffect, useState } from 'react'
import { errorMessage } from '../../api/api-error.ts'
import { useSession } from '../../api/context.ts'
import { hasPasskeys } from '../../api/passkeys.ts'
import { useAnswer } from '../../api/queries.ts'
import { LoginFrame } from '../../components/sign-in/LoginFrame.tsx'
import { leaveFor } from '../../components/sign-in/use-arrival.ts'
import { useSignOut } from '../../components/use-sign-out.ts'
import { type FactorAct, FactorDialog } from '../../forms/account/FactorDialog.tsx'
import { Button } from '../../ui/Button.tsx'
import { Skeleton } from '../../ui/data/Table.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'

/** For people who must set up a second factor before anything else. */
export function SetUpFactorPage() {
  const session = useSession()
  const signOut = useSignOut()
  const answer = useAnswer(endpoints.getFactors, {})
  const [act, setAct] = useState<FactorAct>()
  const { data: factors, refetch } = answer
  const isDone = !act && factors && (factors.authenticator !== null || factors.passkeys.length > 0)
  useEffect(() => {
    if (isDone) void leaveFor(session.takeRedirect())
  }, [isDone, session])
  return (
    <LoginFrame
      title="Set up a second factor"
      lead="This installation asks you for more than a password. Set it up once, then go on."
    >
      <div className="stackf">
        {answer.isError && (
          <Banner
            kind="bad"
            role="alert"
            action={
              <Button size="sm" busy={answer.isFetching} onClick={() => void refetch()}>
                Try Again
              </Button>
            }
          >
            <p>{errorMessage(answer.error)}</p>
          </Banner>
        )}
        {!factors && !answer.isError && <Skeleton width={80} />}
        {factors && (
          <Button variant="primary" block icon={Smartphone} onClick={() => setAct({ kind: 'set up app' })}>
            Set Up an Authenticator App
          </Button>
        )}
        {factors?.passkeyHost && hasPasskeys() && (
          <Button block icon={KeyRound} onClick={() => setAct({ kind: 'add passkey' })}>
            Add a Passkey
          </Button>
        )}
        {factors?.passkeyHost === null && (
          <p className="fine">
            Passkeys work at a name only, and this is <span className="mono">{location.host}</span>.
          </p>
        )}
      </div>
      <ul className="login-ways">
        <li>
          <Button variant="ghost" size="sm" busy={signOut.isPending} onClick={() => signOut.mutate()}>
            Sign Out
          </Button>
        </li>
      </ul>
      <Suspense>
        {factors && act && (
          <FactorDialog
            act={act}
            factors={factors}
            onClose={() => void refetch().then(() => setAct(undefined))}
          />
        )}
      </Suspense>
    </LoginFrame>
  )
}
