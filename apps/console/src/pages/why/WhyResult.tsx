import {
  renderWhy,
  WHY_STATES,
  WHY_TITLES,
  type Why,
  type WhyStep,
  type WhyStepState,
} from '@postern/contract/why/why'
import { Check, CircleDashed, Info, type LucideIcon, Minus, X } from 'lucide-react'
import { Link } from 'react-router'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Badge, type BadgeProps } from '../../ui/feedback/Badge.tsx'
import { formatMoment } from '../../util/time.ts'
import { serviceRowUrl } from '../../util/urls.ts'

/** The steps of one way, as far as they have been looked at. */
export function WhyResult({ why }: { why: Why }) {
  const { service } = why
  return (
    <section className="card result" aria-labelledby="way">
      <header className="card-head">
        <div>
          <h2 id="way" className="mono" dir="auto">
            {why.address}
          </h2>
          {service && (
            <p className="sub">
              <Link to={serviceRowUrl(service)} dir="auto">
                {service.name}
              </Link>{' '}
              on <bdi>{service.nodeName}</bdi>
              {why.visitor && <> · as {why.visitor}</>}
            </p>
          )}
        </div>
        <div className="verdict" role="status">
          <Verdict why={why} />
        </div>
      </header>
      <ol className="steps" aria-busy={why.state === 'looking'}>
        {why.steps.map((step) => (
          <Step key={step.step} step={step} isLooking={why.state === 'looking'} />
        ))}
      </ol>
      <footer className="card-foot">
        <CopyButton value={renderWhy(why)} label="Copy as text" text="Copy as Text" size="sm" />
      </footer>
    </section>
  )
}

function Verdict({ why: { state, steps } }: { why: Why }) {
  if (state === 'looking') return <Badge kind="info">Looking</Badge>
  const stop = steps.find((step) => step.state === 'stop')
  return stop ? (
    <Badge kind="bad">Stops at: {WHY_TITLES[stop.step]}</Badge>
  ) : (
    <Badge kind="ok">Visitors get an answer</Badge>
  )
}

const LOOKS: Readonly<Record<WhyStepState, { icon: LucideIcon; kind: BadgeProps['kind'] }>> = {
  waiting: { icon: CircleDashed, kind: 'mute' },
  ok: { icon: Check, kind: 'ok' },
  note: { icon: Info, kind: 'warn' },
  stop: { icon: X, kind: 'bad' },
  none: { icon: Minus, kind: 'mute' },
}

function Step({ step: { step, state, seen, next, at }, isLooking }: { step: WhyStep; isLooking: boolean }) {
  const { icon: Icon, kind } = LOOKS[state]
  return (
    <li className="step" data-state={state}>
      <Icon className="ic" aria-hidden="true" />
      <div>
        <p className="step-head">
          <b>{WHY_TITLES[step]}</b>
          <Badge kind={kind}>{isLooking && state === 'waiting' ? 'Waiting' : WHY_STATES[state]}</Badge>
          {at !== null && (
            <time className="sub" dateTime={at} title={formatMoment(at)}>
              {new Date(at).toLocaleTimeString('en-US', { hourCycle: 'h23' })}
            </time>
          )}
        </p>
        {seen !== '' && <p className="seen">{seen}</p>}
        {next !== null && <p className="next">{next}</p>}
      </div>
    </li>
  )
}
