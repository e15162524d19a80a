import { Tooltip } from '../overlay/Tooltip.tsx'
import './StatusDot.css'

/** For each status its words and its classes. `away`: offline, and nobody has to do anything about it. */
const LOOKS = {
  online: ['Online', 'online'],
  idle: ['Idle', 'idle'],
  offline: ['Offline', 'offline'],
  disconnected: ['Offline: disconnected', 'offline away'],
  new: ['Offline: never connected', 'offline away'],
  enabled: ['Enabled', 'enabled'],
  /** Nobody reaches it all the same; its state says why. */
  unreached: ['Enabled', 'enabled pale'],
  disabled: ['Disabled', 'disabled'],
} as const

/** Told by colour, shape and hidden text. */
export function StatusDot({ status }: { status: keyof typeof LOOKS }) {
  const [words, classes] = LOOKS[status]
  return (
    <Tooltip text={words} className="dot-target">
      <span className={`dot ${classes}`}>
        <span className="sr">{words}</span>
      </span>
    </Tooltip>
  )
}
