import { createServer } from 'node:net'
import type { Exec } from '@postern/host/processes/exec'
import type { PortSpan } from '@postern/render/haproxy/options'
import { readSysctl, writeSysctl } from '../../sysctl.ts'

/** An address and a port to listen on. */
type Bind = readonly [address: string, port: number]

/** The addresses on which a configuration listens, each port of a range on its own. */
export function listBinds(config: string): Bind[] {
  return [...config.matchAll(/^ {2}bind (\S+):(\d+)(?:-(\d+))?(?: |$)/gm)].flatMap(
    ([, address = '', from, to = from]) =>
      portsOf({ from: Number(from), to: Number(to) }).map(
        (port): Bind => [address.replace(/^\[|\]$/g, ''), port],
      ),
  )
}

/** The ports of `binds` that another program holds on this machine. */
export async function findHeld(binds: readonly Bind[]): Promise<Set<number>> {
  const held = new Set<number>()
  for (let start = 0; start < binds.length; start += AT_ONCE) {
    const some = binds.slice(start, start + AT_ONCE)
    const areFree = await Promise.all(some.map(([address, port]) => isPortFree(address, port)))
    some.forEach(([, port], index) => {
      if (!areFree[index]) held.add(port)
    })
  }
  return held
}

/**
 * The ports of a range that another program holds, also by a connection of its own. One of them would keep HAProxy
 * from starting.
 * @param running the configuration of the running HAProxy, whose ports are ours
 */
export async function findTaken(
  range: PortSpan,
  addresses: readonly string[],
  running: string,
): Promise<Set<number>> {
  const own = new Set(listBinds(running).map(String))
  const wanted = addresses.flatMap((address) => portsOf(range).map((port): Bind => [address, port]))
  return await findHeld(wanted.filter((bind) => !own.has(String(bind))))
}

/** How many files are open at a time. */
const AT_ONCE = 64

export function portsOf({ from, to }: PortSpan): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

function isPortFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen({ host, port, ipv6Only: true }, () => probe.close(() => resolve(true)))
  })
}

const RESERVED = '/proc/sys/net/ipv4/ip_local_reserved_ports'

/** Keeps the kernel from giving a port of the range to a connection of this machine's own. */
export async function reservePorts(exec: Exec, { from, to }: PortSpan): Promise<void> {
  const reserved = await readSysctl(exec, RESERVED)
  if (reserved === undefined) return
  const spans = reserved.split(',').map((span) => span.split('-').map(Number))
  if (spans.some(([first = 0, last = first]) => first <= from && to <= last)) return
  await writeSysctl(exec, RESERVED, mergeSpans([...spans, [from, to]]))
}

/** As the kernel writes it: sorted, with neighbours merged. */
function mergeSpans(spans: readonly (readonly number[])[]): string {
  const merged: [number, number][] = []
  for (const [first = 0, last = first] of spans.toSorted(([a = 0], [b = 0]) => a - b)) {
    if (first === 0) continue
    const before = merged.at(-1)
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else merged.push([first, last])
  }
  return merged.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join()
}
