import { Tooltip } from './Tooltip.tsx'
import './StatusDot.css'

const WORDS = {
  online: 'Online',
  idle: 'Idle',
  offline: 'Offline',
  disconnected: 'Offline: disconnected',
  new: 'Offline: never connected',
  enabled: 'Enabled',
  disabled: 'Disabled',
} as const

/** Told by colour, shape and hidden text. */
export function StatusDot({ status }: { status: keyof typeof WORDS }) {
  return (
    <Tooltip text={WORDS[status]} className="dot-target">
      <span className={`dot ${status}`}>
        <span className="sr">{WORDS[status]}</span>
      </span>
    </Tooltip>
  )
}
