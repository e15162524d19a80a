import type { TrialAccount } from '@postern/contract/sign-in/trials'
import { Plus } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { Pairs } from '../../ui/data/Pairs.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { valuesOfClaim } from './provider-values.ts'

interface Props {
  account: TrialAccount
  /** What the rules make of it, in words. */
  decision: string | undefined
  onRule: (claim: string, value: string) => void
}

/** What the provider says of the account that was tried; a click on a value makes a rule of it. */
export function TriedAccount({ account: { doubt, claims }, decision, onRule }: Props) {
  const ref = useRef<HTMLDivElement>(null)
  // It comes at the end of the form, and a while after the click.
  useEffect(() => {
    ref.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  return (
    <div className="fields" ref={ref}>
      {decision !== undefined && (
        <p className="role-decision">
          <b>{decision}</b>
        </p>
      )}
      {doubt !== null && (
        <Banner kind="info">
          <p>Its e-mail address fits no rule. {doubt}</p>
        </Banner>
      )}
      <p className="hint">Choose a value to make a rule of it.</p>
      <Pairs
        pairs={claims.map(({ name, value }) => [
          name,
          <ClaimValues key={name} name={name} value={value} onRule={onRule} />,
        ])}
      />
    </div>
  )
}

/** Another at each sign-in, or the same for everybody. */
const OF_THE_SIGN_IN = ['iss', 'aud', 'azp', 'exp', 'iat', 'nbf', 'auth_time', 'jti']

interface ValuesProps extends Pick<Props, 'onRule'> {
  name: string
  value: string
}

function ClaimValues({ name, value, onRule }: ValuesProps) {
  const values = OF_THE_SIGN_IN.includes(name) ? [] : valuesOfClaim(value)
  if (values.length === 0) return value
  return (
    <span className="claim-values">
      {values.map((each) => (
        <button
          key={each}
          type="button"
          className="claim-value"
          aria-label={`Add a rule: ${name} is ${each}`}
          onClick={() => onRule(name, each)}
        >
          {each}
          <Plus className="ic" />
        </button>
      ))}
    </span>
  )
}
