import { useSyncExternalStore } from 'react'
import { formatBytes, formatKilobytes } from '../util/bytes.ts'
import { CLOCK_INTERVAL } from '../util/constants.ts'
import { formatMoment, formatRelativeTime } from '../util/time.ts'

/** For tables: always KB, so that rows compare; the best unit is the tooltip. */
export function Kilobytes({ bytes }: { bytes: number }) {
  if (!bytes) return <span className="none">-</span>
  return (
    <span className="tn" title={formatBytes(bytes)}>
      {formatKilobytes(bytes)}
    </span>
  )
}

/** Elsewhere: the best unit. */
export function Bytes({ bytes }: { bytes: number }) {
  return <span className={bytes ? 'tn' : 'none'}>{formatBytes(bytes)}</span>
}

/** `12 seconds ago`, which keeps moving; the exact time is its tooltip. `time` is ms since the epoch. */
export function RelativeTime({ time }: { time: number | null }) {
  const now = useNow()
  if (!time) return <span className="none">-</span>
  return (
    <time dateTime={new Date(time).toISOString()} title={formatMoment(time)}>
      {formatRelativeTime(time, now)}
    </time>
  )
}

const listeners = new Set<() => void>()
let timer: number | undefined
let now = Date.now()

function tick(): void {
  now = Date.now()
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= window.setInterval(tick, CLOCK_INTERVAL)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    window.clearInterval(timer)
    timer = undefined
  }
}

/** The current second, ms since the epoch: one clock for the whole page, stopped while nothing uses it. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now)
}
