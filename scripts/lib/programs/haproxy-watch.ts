import { messageOf } from '@postern/host/errors'
import { updateHaproxy } from '../../bootstrap/system-packages.mjs'
import type { Say } from './programs.ts'

/** Like the timer beside the units: it checks once a day, and after a failure at the next of these times. */
const EVERY = 6 * 3600 * 1000

/**
 * Looks for security updates and a newer HAProxy while Postern runs.
 * @param ask resolves to the version that has just been fetched
 */
export function watchHaproxy(
  say: Say,
  {
    ask = updateHaproxy,
    everyMs = EVERY,
  }: { ask?: () => Promise<string | undefined>; everyMs?: number } = {},
): { stop(): void } {
  const look = async () => {
    try {
      const version = await ask()
      if (version !== undefined) say(`postern: HAProxy ${version} is installed; the edge hands over to it\n`)
    } catch (error) {
      say(`postern: ${messageOf(error)}\n`)
    }
  }
  const timer = setInterval(() => void look(), everyMs)
  return { stop: () => clearInterval(timer) }
}
