import { isReason, REASONS, type Reason } from '@postern/contract/requests/reasons'
import { ENDS, findTarget, findTime, NOTHING_SAID } from './kept-fields.ts'
import { endedReason, LazyLog, type ParsedLog, wordsOf } from './log.ts'
import { bareSource, formatDuration, formatSize, textOf } from './text.ts'

/** The lines of TCP services. HAProxy writes no number of more digits, and a longer one cannot be a time. */
const CONNECTED = /^(\d{1,15})\|(\d{1,15})\|([^|]*)\|(\d{1,5})$/
const DISCONNECTED =
  /^(\d{1,15})\|(..)\|([^|]*)\|([^|]*)\|(\d{1,15})\|([^|]*)\|(\d{1,5})\|(\d{1,15})\|(\d{1,15})\|(\d{1,15})\|(-?\d{1,15})\|([^|]*)$/
const FAILED_HANDSHAKE = /^(\d{1,15})\|(\d{1,15})\|([^|]*)\|(\d{1,5})\|([^|]*)$/

export function parseConnected(line: string): ParsedLog | undefined {
  const [match, id, time, source, port] = CONNECTED.exec(line) ?? []
  if (match === undefined) return undefined
  const visit = { time, source, request: `tcp ${port}` }
  return { counter: null, log: new LazyLog(Number(id), null, () => textOf(visit, 'INFO', 'opened')) }
}

export function parseDisconnected(line: string): ParsedLog | undefined {
  const [match, id, state = '', why = '', node, time, source, port, ...figures] =
    DISCONNECTED.exec(line) ?? []
  if (match === undefined) return undefined
  const [received, sent, total, connect, target] = figures
  const visit = { time, source, request: `tcp ${port}` }
  const isFailed = /^[sSPRI]C$/.test(state)
  const reason = isReason(why) ? why : isFailed ? ENDS[state] : endedReason(state, node)
  const text = () => {
    const words = wordsOf(reason)
    if (isReason(why)) return textOf(visit, 'WARN', `refused ${words}`)
    if (isFailed) return textOf(visit, 'ERROR', `failed ${words}`)
    const moved = `${formatSize(Number(received))} in ${formatSize(Number(sent))} out`
    const closed = `closed ${moved} ${formatDuration(Number(total))}`
    return textOf(visit, 'INFO', words ? `${closed} ${words}` : closed)
  }
  const sign = /^[Ss]C$/.test(state) ? 'failed' : /^(--|[CcSs]D)$/.test(state) ? 'answered' : null
  const kept = () => ({
    ...connectionOf(id, time, source, reason ?? null),
    received: Number(received),
    sent: Number(sent),
    connect: findTime(connect),
    total: findTime(total),
    target: findTarget(target),
  })
  return { counter: null, log: new LazyLog(Number(id), sign, text, kept) }
}

export function parseFailedHandshake(line: string): ParsedLog | undefined {
  const [match, id, time, source, port, error = ''] = FAILED_HANDSHAKE.exec(line) ?? []
  if (match === undefined) return undefined
  // Like `error:0A00009C:SSL routines::http request`, or `-` when the visitor just went away.
  const last = error.split(':').at(-1)
  const why = error === '-' ? undefined : last?.replace(/[^\w ./-]/g, '?').slice(0, 100)
  const words =
    why === undefined ? 'the visitor left during the TLS handshake' : `${REASONS.handshake}: ${why}`
  const text = () => textOf({ time, source, request: `tcp ${port}` }, 'WARN', `refused ${words}`)
  const kept = () => ({
    ...connectionOf(id, time, source, 'handshake'),
    detail: why ?? 'the visitor left',
  })
  return { counter: null, log: new LazyLog(Number(id), null, text, kept) }
}

function connectionOf(id = '', time = '', source: string | undefined, reason: Reason | null) {
  const about = { at: Number(time), type: 'tcp' as const, service: Number(id), source: bareSource(source) }
  return { ...NOTHING_SAID, ...about, reason }
}
