import type { HttpService } from '@postern/contract/services'
import { Check, CircleAlert, Power } from 'lucide-react'
import { Spinner } from '../../ui/Spinner.tsx'

type Stated = Pick<HttpService, 'enabled' | 'state'>

/** Whether a service is carried, and in words why not. What is fine is quiet. */
export function ServiceState({ service }: { service: Stated }) {
  return (
    <>
      <ServicePhase service={service} />
      <ServiceProblem service={service} />
    </>
  )
}

/** What keeps a service from being carried, in words; nothing when it is as it should be. */
export function ServiceProblem({ service }: { service: Stated }) {
  const { phase, problem } = service.state
  if (!service.enabled || phase === 'live' || !problem) return null
  return <p className={phase === 'failed' ? 'why bad' : 'why'}>{problem}</p>
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
  const failed = phase === 'failed'
  return (
    <span className={`phase ${phase}`}>
      {failed ? <CircleAlert className="ic" /> : <Spinner />}
      {failed ? 'Failed' : 'Applying'}
    </span>
  )
}
