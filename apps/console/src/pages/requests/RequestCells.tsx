import type { ShownRequest } from '@postern/contract/requests/query'
import { isReason, REASONS } from '@postern/contract/requests/reasons'
import { Badge } from '../../ui/feedback/Badge.tsx'

/** `GET /path` of a request, or what it was a connection to. */
export function askedText({ type, method, path }: ShownRequest): string {
  if (type === 'http') return path === null ? 'No request' : `${method} ${path}`
  return `${type.toUpperCase()} ${type === 'tcp' ? 'connection' : 'flow'}`
}

export function reasonText({ reason, detail }: ShownRequest): string | null {
  if (reason === null) return null
  const words = isReason(reason) ? REASONS[reason] : reason
  return detail === null ? words : `${words}: ${detail}`
}

/** How it ended, in one word. */
export function ResultBadge({ request }: { request: ShownRequest }) {
  const { status, reason, type } = request
  if (status !== null) return <Badge kind={lookOf(status)}>{status}</Badge>
  if (reason === null) return <Badge kind="mute">{type === 'http' ? 'No answer' : 'Closed'}</Badge>
  return <Badge kind="warn">{type === 'http' ? 'No answer' : 'Ended'}</Badge>
}

function lookOf(status: number) {
  if (status >= 500) return 'bad'
  if (status >= 400) return 'warn'
  return status >= 300 ? 'mute' : 'ok'
}

const clock = new Intl.DateTimeFormat('en-US', {
  ...{ month: '2-digit', day: '2-digit' },
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
})

/** `11/26, 15:04:05` in the browser's time zone. */
export function clockText(at: number): string {
  return clock.format(at)
}

/** `12 ms`, `3.4 s`. */
export function durationText(ms: number | null): string {
  if (ms === null) return '-'
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toLocaleString('en-US', { maximumFractionDigits: 1 })} s`
}
