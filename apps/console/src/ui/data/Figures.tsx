import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import { formatBytes, formatKilobytes } from '../../util/bytes.ts'
import { CLOCK_INTERVAL } from '../../util/constants.ts'
import { formatDate, formatMoment, formatRelativeTime } from '../../util/time.ts'

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
  const element = useRef<HTMLTimeElement>(null)
  // A page of them changes each second, so the text is updated in place without rendering.
  useEffect(() => {
    const say = () => {
      const text = formatRelativeTime(time, now)
      if (element.current && element.current.textContent !== text) element.current.textContent = text
    }
    say()
    return time ? subscribe(say) : undefined
  }, [time])
  const exact = useMemo(
    () => time && { iso: new Date(time).toISOString(), words: formatMoment(time) },
    [time],
  )
  if (!exact) return <span className="none">-</span>
  return (
    <time ref={element} dateTime={exact.iso} title={exact.words}>
      {formatRelativeTime(time, now)}
    </time>
  )
}

/** The day of a time; the exact time is its tooltip. */
export function Day({ time }: { time: string | null }) {
  if (time === null) return <span className="none">-</span>
  return (
    <time className="tn" dateTime={time} title={formatMoment(time)}>
      {formatDate(time)}
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
