import { findIp, formatIp } from '@postern/net/ip'

/** One UDP flow, as connection tracking knows it. */
export interface Flow {
  source: string
  sourcePort: number
  /** Where the visitor sends to. */
  destination: string
  port: number
  /** The address that answers, as in the sets: not `destination` when the flow was forwarded. */
  target: string
  /** Undefined when the kernel has not counted. */
  bytesIn: number | undefined
  bytesOut: number | undefined
}

export function isLedOn({ destination, port, target }: Flow): boolean {
  return target !== `${destination} . ${port}`
}

/** @returns undefined for a line of `conntrack` that is about something else */
export function parseFlow(line: string): Flow | undefined {
  const values = new Map<string, string[]>()
  for (const word of line.split(' ')) {
    const [key = '', value] = word.split('=', 2)
    if (value !== undefined) values.set(key, [...(values.get(key) ?? []), value])
  }
  const both = (key: string) => values.get(key) ?? []
  const [source, responder] = both('src').map(spell)
  const [destination] = both('dst').map(spell)
  const [sourcePort, responderPort] = both('sport').map(Number)
  const port = Number(both('dport')[0])
  const [bytesIn, bytesOut] = both('bytes').map(Number)
  if (!source || !responder || !destination || !responderPort || !sourcePort || !port) return undefined
  return {
    source,
    sourcePort,
    destination,
    port,
    target: `${responder} . ${responderPort}`,
    bytesIn,
    bytesOut,
  }
}

function spell(address: string): string {
  const ip = findIp(address)
  return ip ? formatIp(ip) : ''
}
