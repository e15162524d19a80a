import { messageOf } from '@postern/host/errors'
import { createTrust } from '@postern/host/trust'
import type { Log } from '../io.ts'
import type { ServerAccess } from './server-client.ts'
import { findNewerRoots } from './trust.ts'

const DAY = 86_400_000
/** The server may be down while this machine starts. */
const FIRST = 60_000

interface Options {
  /** Stores the roots, PEM. */
  save(ca: string): Promise<void>
  log: Log
}

/**
 * Learns the next root of the server's own authority years before the trusted one expires, and drops roots that the
 * server no longer shows. Checks once a day.
 * @param ca PEM of the trusted roots; null: the system's authorities, which the system manages
 */
export function followRoots(access: ServerAccess, ca: string | null, { save, log }: Options) {
  let held = ca
  async function look(): Promise<void> {
    if (held === null || access.url.protocol !== 'https:') return
    const newer = await findNewerRoots(access.url, held)
    if (newer === undefined) return
    await save(newer)
    held = newer
    access.trust = createTrust(newer)
    log('the server has renewed its root: the new one is trusted now')
  }
  const run = () => void look().catch((error: unknown) => log(`roots: ${messageOf(error)}`))
  const first = setTimeout(run, FIRST).unref()
  const timer = setInterval(run, DAY).unref()
  return {
    look,
    stop() {
      clearTimeout(first)
      clearInterval(timer)
    },
  }
}
