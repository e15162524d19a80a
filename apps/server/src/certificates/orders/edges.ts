import type { InForce } from '@postern/contract/edge/edge-messages'
import type { LiveBus } from '../../changes/live.ts'
import { EdgeNotReadyError } from './problems.ts'

const TIMEOUT = 60_000

/** HAProxy answers the authority, so a failing tunnel or firewall does not matter. */
interface Parts {
  bus: Pick<LiveBus, 'listen'>
  edges: {
    views(): readonly { id: number; name: string; inForce: Pick<InForce, 'haproxy'> }[]
    lost(): readonly { id: number; name: string }[]
  }
}

/**
 * Resolves when HAProxy of every edge has applied this revision: of those that are connected, or have just broken off.
 * `at`: the ids of the edges that serve the domain; null: all.
 * @throws EdgeNotReadyError after a minute, or the signal's reason
 */
export function whenApplied(
  { bus, edges: hub }: Parts,
  { revision, at }: { revision: number; at: readonly number[] | null },
  signal: AbortSignal,
) {
  const isAsked = ({ id }: { id: number }) => at === null || at.includes(id)
  const connected = () => hub.views().filter(isAsked)
  const lost = () => hub.lost().filter(isAsked)
  return new Promise<void>((resolve, reject) => {
    const behind = () => connected().filter(({ inForce }) => inForce.haproxy < revision)
    const missing = () => [...behind(), ...lost()]
    const isThere = () => connected().length > 0 && missing().length === 0
    const whyNot = () =>
      connected().length + lost().length > 1 ? notReadyAt(missing().map(({ name }) => name)) : NOT_READY
    const end = (settle: () => void) => {
      clearTimeout(timer)
      stop()
      signal.removeEventListener('abort', onAbort)
      settle()
    }
    const onAbort = () => end(() => reject(signal.reason))
    const look = () => isThere() && end(resolve)
    const stop = bus.listen((hint) => void (hint.kind === 'edges' && look()))
    const timer = setTimeout(() => end(() => reject(new EdgeNotReadyError(whyNot()))), TIMEOUT)
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    else look()
  })
}

const NOT_READY =
  'The edge did not take the answer for the certificate authority within a minute: it is not connected, or HAProxy has a problem'

/** The authority may ask at any of them. */
const notReadyAt = (names: readonly string[]) =>
  `Not every edge took the answer for the certificate authority within a minute: ${names.join(', ')}`
