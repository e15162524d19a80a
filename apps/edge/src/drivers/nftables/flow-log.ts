import type { KeptRequest } from '@postern/contract/requests/kept'
import { createBackoff } from '@postern/host/backoff'
import type { Exec } from '@postern/host/processes/exec'
import { portRoutesOf, type RouteSections } from '@postern/render/resolved-route'
import { NOTHING_SAID } from '../haproxy/logs/kept-fields.ts'
import { formatDuration, formatSize, textOf } from '../haproxy/logs/text.ts'
import { type Flow, isLedOn, parseFlow } from './flow.ts'

/** A line of a service's log, and what is kept of a flow that has ended. */
export interface KeptLine {
  service: number
  text: string
  kept?: KeptRequest
}

interface FlowLogOptions {
  exec: Exec
  /** ms since the epoch. */
  now: () => number
  random: () => number
  onLine(line: KeptLine): void
}

/** Logs when flows of UDP services begin and end, with one program that runs while there are such services. */
export interface FlowLog {
  setRoutes(routes: RouteSections): void
  close(): void
}

const RETRY = { first: 250, most: 5000 }
/** Bytes of events that the kernel keeps for the program while it is busy. */
const BUFFER = String(4 * 1024 * 1024)
/** Further ones are logged without a duration. */
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
    const at = now()
    const say = (rest: string) =>
      textOf({ time: String(at), source: flow.source, request: `udp ${flow.port}` }, 'INFO', rest)
    if (!line.includes('[DESTROY]')) return onLine({ service, text: say(beginningOf(flow)) })
    const began = open.get(keyOf(flow))
    open.delete(keyOf(flow))
    const total = began === undefined ? null : at - began
    onLine({ service, text: say(endOf(flow, total)), kept: keptFlow(service, flow, at, total) })
  }
  const beginningOf = (flow: Flow) => {
    const [oldest] = open.keys()
    if (open.size >= MOST_OPEN && oldest !== undefined) open.delete(oldest)
    open.set(keyOf(flow), now())
    return 'opened'
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

function endOf({ bytesIn, bytesOut = 0 }: Flow, total: number | null): string {
  const moved = bytesIn === undefined ? '' : ` ${formatSize(bytesIn)} in ${formatSize(bytesOut)} out`
  return `closed${moved}${total === null ? '' : ` ${formatDuration(total)}`}`
}

function keptFlow(service: number, flow: Flow, at: number, total: number | null): KeptRequest {
  const { source, bytesIn = 0, bytesOut = 0 } = flow
  const [address = '', port] = flow.target.split(' . ')
  const target = `${address.includes(':') ? `[${address}]` : address}:${port}`
  const moved = { received: bytesIn, sent: bytesOut }
  return { ...NOTHING_SAID, ...moved, at, type: 'udp', service, source, total, target }
}
