import { formatMoment } from '../util/dates.ts'
import { formatRelativeTime } from '../util/relative-time.ts'
import { useNow } from './use-now.ts'

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
