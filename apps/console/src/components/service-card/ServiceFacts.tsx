import type { HttpService } from '@postern/contract/services'
import { Check, CircleAlert, Power, Unplug } from 'lucide-react'
import { Spinner } from '../../ui/Button.tsx'
import './ServiceState.css'

type Stated = Pick<HttpService, 'enabled' | 'state'>

/** Whether a service is carried and answers, and in words why not. What is fine is quiet. */
export function ServiceState({ service }: { service: Stated }) {
  return (
    <>
      <ServicePhase service={service} />
      <ServiceProblem service={service} />
    </>
  )
}

const TONES = { live: 'why', applying: 'why', unanswered: 'why warn', failed: 'why bad' } as const

/** What keeps a service from being carried or from answering, in words; nothing when it is as it should be. */
export function ServiceProblem({ service }: { service: Stated }) {
  const { phase, problem } = service.state
  if (!service.enabled || phase === 'live' || !problem) return null
  return <p className={TONES[phase]}>{problem}</p>
}

export function ServicePhase({ service }: { service: Stated }) {
  const { phase } = service.state
  if (!service.enabled)
    return (
      <span className="phase off">
        <Power className="ic" />
        Disabled
      </span>
    )
  if (phase === 'live')
    return (
      <span className="phase live">
        <Check className="ic" />
        Live
      </span>
    )
  const { icon, words } = PHASES[phase]
  return (
    <span className={`phase ${phase}`}>
      {icon}
      {words}
    </span>
  )
}

const PHASES = {
  applying: { icon: <Spinner />, words: 'Applying' },
  unanswered: { icon: <Unplug className="ic" />, words: 'Not answering' },
  failed: { icon: <CircleAlert className="ic" />, words: 'Failed' },
} as const
