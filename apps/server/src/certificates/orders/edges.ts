import type { InForce } from '@postern/contract/edge/edge-messages'
import type { LiveBus } from '../../changes/live.ts'
import { EdgeNotReadyError } from './problems.ts'

const TIMEOUT = 60_000

/** HAProxy answers the authority, so a failing tunnel or firewall does not matter. */
interface Parts {
  bus: Pick<LiveBus, 'listen'>
  edges: { views(): readonly { inForce: Pick<InForce, 'haproxy'> }[] }
}

/**
 * Resolves when HAProxy of every connected edge has applied this revision.
 * @throws EdgeNotReadyError after a minute, or the signal's reason
 */
export function whenApplied({ bus, edges }: Parts, revision: number, signal: AbortSignal) {
  return new Promise<void>((resolve, reject) => {
    const isThere = () => {
      const views = edges.views()
      return views.length > 0 && views.every(({ inForce }) => inForce.haproxy >= revision)
    }
    const end = (settle: () => void) => {
      clearTimeout(timer)
      stop()
      signal.removeEventListener('abort', onAbort)
      settle()
    }
    const onAbort = () => end(() => reject(signal.reason))
    const look = () => isThere() && end(resolve)
    const stop = bus.listen((hint) => void (hint.kind === 'edges' && look()))
    const timer = setTimeout(() => end(() => reject(new EdgeNotReadyError(NOT_READY))), TIMEOUT)
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    else look()
  })
}

const NOT_READY =
  'The edge did not take the answer for the certificate authority within a minute: it is not connected, or HAProxy has a problem'
