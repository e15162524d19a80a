import { createServer } from 'node:net'
import type { PortSpan } from '@postern/render/haproxy/options'

/** An address and a port to listen at. */
type Bind = readonly [address: string, port: number]

/** What a configuration listens at, each port of a range on its own. */
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
 * @param running the configuration of the HAProxy that runs: what that listens at is ours
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

/** Open files at a time. */
const AT_ONCE = 64

function portsOf({ from, to }: PortSpan): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

function isPortFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen({ host, port, ipv6Only: true }, () => probe.close(() => resolve(true)))
  })
}
