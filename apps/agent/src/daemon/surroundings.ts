import { existsSync, readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import type { NodeTargets } from '@postern/contract/agent/agent'
import { listListeners } from '../tunnel/listeners.ts'

const CHECK_INTERVAL = 1000
/** How much of a list of sockets is read: listening ones come first. */
const HEAD_BYTES = 256 * 1024

export interface SurroundingsOptions {
  /** The tunnel's interface, whose own addresses and routes do not count. */
  tunnel: string
  /** This machine's addresses or routes have changed. */
  onMoved(): void
  /** The published ports, and formerly published ones. */
  ports(): NodeTargets
  /** The programs that listen on them have changed. */
  onListening(): void
}

/**
 * Checks each second for changes without events: whether this machine moved to another network, so that a packet must
 * show the server its new address; and which programs listen on published ports. Runs until the signal.
 */
export async function watchSurroundings(options: SurroundingsOptions, signal: AbortSignal): Promise<void> {
  let before = describePlace(options.tunnel)
  let heard = await describeListeners(options.ports())
  while (!signal.aborted) {
    await pause(CHECK_INTERVAL, undefined, { signal }).catch(() => undefined)
    const place = describePlace(options.tunnel)
    if (place !== before) options.onMoved()
    before = place
    const listeners = await describeListeners(options.ports())
    if (listeners !== heard) options.onListening()
    heard = listeners
  }
}

/**
 * Global addresses and default routes; those that come and go with containers, like fe80:: of their links, do not
 * count.
 */
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
  // Without duplicates: a program may have a socket for each of its clients.
  const listeners = (await listListeners(ports, readHead)).map((listener) => JSON.stringify(listener))
  return [...new Set(listeners)].sort().join()
}

/** The kernel makes the list while it is read, and a busy machine has many connections after the listening sockets. */
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
