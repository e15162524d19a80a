import type { Mute } from '@postern/contract/alerts/mute'
import { BellOff } from 'lucide-react'
import { formatMoment } from '../../util/time.ts'

/** Beside the name of what is muted. */
export function MutedMark({ mute }: { mute: Mute }) {
  if (mute === null) return null
  const text = mute.until === null ? 'Alerts are muted' : `Alerts are muted until ${formatMoment(mute.until)}`
  return (
    <span className="markic" title={text}>
      <BellOff className="ic" aria-hidden="true" />
      <span className="sr">{text}</span>
    </span>
  )
}
