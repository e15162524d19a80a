import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import { formatBytes, formatKilobytes } from '../../util/bytes.ts'
import { CLOCK_INTERVAL } from '../../util/constants.ts'
import { formatDate, formatMoment, formatRelativeTime, formatTimeLeft } from '../../util/time.ts'

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
  return <MovingTime time={time} format={formatRelativeTime} />
}

/** `2 h` until a time in ms since the epoch; it counts down. */
export function TimeLeft({ time }: { time: number }) {
  return <MovingTime time={time} format={formatTimeLeft} />
}

interface MovingTimeProps {
  time: number | null
  /** The same function each time. */
  format: (time: number, now: number) => string
}

function MovingTime({ time, format }: MovingTimeProps) {
  const element = useRef<HTMLTimeElement>(null)
  // A page of them changes each second, so the text is updated in place without rendering.
  useEffect(() => {
    const say = () => {
      const text = time ? format(time, now) : '-'
      if (element.current && element.current.textContent !== text) element.current.textContent = text
    }
    say()
    return time ? subscribe(say) : undefined
  }, [time, format])
  const exact = useMemo(
    () => time && { iso: new Date(time).toISOString(), words: formatMoment(time) },
    [time],
  )
  if (!time || !exact) return <span className="none">-</span>
  return (
    <time ref={element} dateTime={exact.iso} title={exact.words}>
      {format(time, now)}
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
