import { existsSync, readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import type { NodeTargets } from '@postern/contract/agent'
import { listListeners } from '../tunnel/listeners.ts'

const LOOK_EVERY = 1000
/** The longest list of sockets that is read: those that listen come first. */
const HEAD_BYTES = 256 * 1024

export interface SurroundingsOptions {
  /** The tunnel's interface, whose own addresses and routes do not count. */
  tunnel: string
  /** This machine has other addresses or routes. */
  onMoved(): void
  /** The published ports, and those that were. */
  ports(): NodeTargets
  /** Other programs listen at them than before. */
  onListening(): void
}

/**
 * Looks each second for what no packet tells: that this machine moved to another network, after which the server knows
 * its new address only from a packet; and who listens at published ports. Until the signal.
 */
export async function watchSurroundings(options: SurroundingsOptions, signal: AbortSignal): Promise<void> {
  let before = describePlace(options.tunnel)
  let heard = await describeListeners(options.ports())
  while (!signal.aborted) {
    await pause(LOOK_EVERY, undefined, { signal }).catch(() => undefined)
    const place = describePlace(options.tunnel)
    if (place !== before) options.onMoved()
    before = place
    const listeners = await describeListeners(options.ports())
    if (listeners !== heard) options.onListening()
    heard = listeners
  }
}

/** Global addresses and default routes: what containers come and go with, like fe80:: of their links, does not count. */
function describePlace(tunnel: string): string {
  const isElsewhere = (name: string, cidr: string | null) =>
    name === tunnel || cidr?.startsWith('fe80:') !== false
  const addresses = Object.entries(networkInterfaces()).flatMap(([name, list]) =>
    (list ?? []).flatMap(({ cidr }) => (isElsewhere(name, cidr) ? [] : `${name} ${cidr}`)),
  )
  const routes = readFileSync('/proc/net/route', 'utf8').split('\n')
  return [
    ...addresses,
    ...routes.filter((line) => !line.startsWith(`${tunnel}\t`) && line.split('\t')[1] === '00000000'),
  ].join('\n')
}

async function describeListeners(ports: NodeTargets): Promise<string> {
  // Each once: a program may have a socket for each of its clients.
  const listeners = (await listListeners(ports, readHead)).map((listener) => JSON.stringify(listener))
  return [...new Set(listeners)].sort().join()
}

/** The kernel makes the list as it is read, and a busy machine has many connections after those that listen. */
async function readHead(path: string): Promise<string | undefined> {
  if (!existsSync(path)) return undefined
  const file = await open(path)
  try {
    const head = Buffer.alloc(HEAD_BYTES)
    let size = 0
    for (let read = -1; read !== 0 && size < HEAD_BYTES; size += read)
      read = (await file.read(head, size, HEAD_BYTES - size)).bytesRead
    return head.toString('latin1', 0, size)
  } finally {
    await file.close()
  }
}
