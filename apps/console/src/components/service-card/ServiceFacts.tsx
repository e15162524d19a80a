import type { Service } from '@postern/contract/services/services'
import { Check, CircleAlert, Power, ServerOff, Unplug } from 'lucide-react'
import { Spinner } from '../../ui/Button.tsx'
import { RelativeTime, TimeLeft } from '../../ui/data/Figures.tsx'
import { INSIDE_ROW } from '../../ui/data/row-events.ts'
import { serverUrls } from '../../util/urls.ts'
import './ServiceFacts.css'

interface AccessProps {
  service: Pick<Service, 'type' | 'publicAccess' | 'enabled'>
  /** In a row of a table. */
  inRow?: boolean
}

/** The address of a service: a link while it is enabled, plain text while not. */
export function PublicAccess({ service: { type, publicAccess, enabled }, inRow }: AccessProps) {
  if (!publicAccess) return <span className="none">Not assigned</span>
  if (!enabled) return <span className="mono">{publicAccess}</span>
  // Other protocols open no page, so there is no new tab.
  const tab = type === 'http' && { target: '_blank', rel: 'noreferrer' }
  return (
    <a className="mono" href={publicAccess} {...tab} {...(inRow && INSIDE_ROW)}>
      {publicAccess}
    </a>
  )
}

const PHASES = {
  live: { icon: <Check className="ic" />, words: 'Live', tone: 'ok' },
  checking: { icon: <Spinner />, words: 'Checking', tone: 'info' },
  applying: { icon: <Spinner />, words: 'Applying', tone: 'info' },
  unanswered: { icon: <Unplug className="ic" />, words: 'Not answering', tone: 'warn' },
  'node-offline': { icon: <ServerOff className="ic" />, words: 'Node offline', tone: 'warn' },
  'node-disconnected': { icon: <ServerOff className="ic" />, words: 'Node disconnected', tone: '' },
  failed: { icon: <CircleAlert className="ic" />, words: 'Failed', tone: 'bad' },
} as const
const DISABLED = { icon: <Power className="ic" />, words: 'Disabled', tone: '' } as const

/** Whether a service is published and answers, and in words why not. Healthy services show nothing. */
export function ServiceState({
  service: { enabled, state, nodeName, endsAt },
}: {
  service: Pick<Service, 'enabled' | 'state' | 'nodeName' | 'endsAt'>
}) {
  const { icon, words, tone } = enabled ? PHASES[state.phase] : DISABLED
  const problem = enabled && state.phase !== 'live' && state.problem
  return (
    <>
      <span className={`phase ${tone}`}>
        {icon}
        {words}
      </span>
      {endsAt && (
        <p className="why">
          Ends in <TimeLeft time={Date.parse(endsAt)} />
        </p>
      )}
      {enabled && state.note && <p className="why">{state.note}</p>}
      {problem && (
        <p className={`why ${tone}`}>
          {state.lastSeen ? <LastSeen nodeName={nodeName} time={state.lastSeen} /> : problem}{' '}
          <a href={serverUrls.whatToDo(state.phase)} target="_blank" rel="noreferrer" {...INSIDE_ROW}>
            What to do
          </a>
        </p>
      )}
    </>
  )
}

function LastSeen({ nodeName, time }: { nodeName: string; time: number }) {
  return (
    <>
      <bdi>{nodeName}</bdi> was last seen <RelativeTime time={time} />
    </>
  )
}
