import { Tooltip } from '../overlay/Tooltip.tsx'
import './StatusDot.css'

/** The text and the classes of each status. `away`: offline, without need for action. */
const LOOKS = {
  online: ['Online', 'online'],
  idle: ['Idle', 'idle'],
  offline: ['Offline', 'offline'],
  disconnected: ['Offline: disconnected', 'offline away'],
  new: ['Offline: never connected', 'offline away'],
  enabled: ['Enabled', 'enabled'],
  /** Enabled, but not reachable; its state says why. */
  unreached: ['Enabled', 'enabled pale'],
  disabled: ['Disabled', 'disabled'],
} as const

/** Shown by colour, shape and hidden text. */
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
