import { createBackoff } from '@postern/host/backoff'
import type { Exec } from '@postern/host/exec'
import { portRoutesOf, type RouteSections } from '@postern/render/resolved-route'
import { formatDuration, formatSize, textOf } from '../haproxy/logs/line.ts'
import { type Flow, isLedOn, parseFlow } from './flow.ts'

interface FlowLogOptions {
  exec: Exec
  /** ms since the epoch. */
  now: () => number
  random: () => number
  onLine(line: { service: number; text: string }): void
}

/** Says when flows of UDP services begin and end, from one program that runs while there are such services. */
export interface FlowLog {
  setRoutes(routes: RouteSections): void
  close(): void
}

const RETRY = { first: 250, most: 5000 }
/** Bytes of events that the kernel keeps for the program while it is busy. */
const BUFFER = String(4 * 1024 * 1024)
/** Any more are logged without a duration. */
const MOST_OPEN = 100_000

export function createFlowLog({ exec, now, random, onLine }: FlowLogOptions): FlowLog {
  /** Public port → service. */
  let services = new Map<number, number>()
  /** When a flow began. */
  const open = new Map<string, number>()
  const backoff = createBackoff({ ...RETRY, random })
  let stream: { stop(): void } | undefined
  let retry: NodeJS.Timeout | undefined

  const update = () => {
    if (services.size > 0) return retry === undefined && !stream ? start() : undefined
    close()
  }
  const start = () => {
    retry = undefined
    const args = ['-E', '-p', 'udp', '-e', 'NEW,DESTROY', '-b', BUFFER]
    const current = exec.stream('conntrack', args, {
      onLine: hear,
      onExit() {
        if (stream !== current) return
        stream = undefined
        retry = setTimeout(start, backoff.next())
      },
    })
    stream = current
  }
  const hear = (line: string) => {
    const flow = parseFlow(line)
    const service = flow && services.get(flow.port)
    if (!flow || service === undefined || !isLedOn(flow)) return
    backoff.reset()
    const rest = line.includes('[DESTROY]') ? endOf(flow) : beginningOf(flow)
    const visit = { time: String(now()), source: flow.source, request: `udp ${flow.port}` }
    onLine({ service, text: textOf(visit, 'INFO', rest) })
  }
  const beginningOf = (flow: Flow) => {
    const [oldest] = open.keys()
    if (open.size >= MOST_OPEN && oldest !== undefined) open.delete(oldest)
    open.set(keyOf(flow), now())
    return 'opened'
  }
  const endOf = (flow: Flow) => {
    const began = open.get(keyOf(flow))
    open.delete(keyOf(flow))
    const moved =
      flow.bytesIn === undefined
        ? ''
        : ` ${formatSize(flow.bytesIn)} in ${formatSize(flow.bytesOut ?? 0)} out`
    return `closed${moved}${began === undefined ? '' : ` ${formatDuration(now() - began)}`}`
  }
  const close = () => {
    clearTimeout(retry)
    retry = undefined
    const last = stream
    stream = undefined
    last?.stop()
    open.clear()
  }
  return {
    setRoutes(routes) {
      const udp = portRoutesOf(routes).filter(({ proto }) => proto === 'udp')
      services = new Map(udp.map(({ port, id }) => [port, id]))
      update()
    },
    close,
  }
}

function keyOf({ source, sourcePort, port }: Flow): string {
  return `${source} ${sourcePort} ${port}`
}
