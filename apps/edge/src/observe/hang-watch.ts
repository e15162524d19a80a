import type { Problem } from '@postern/contract/edge/edge'
import type { Exec } from '@postern/host/processes/exec'
import { endUserspaceTunnel, MOST_UNANSWERED, watchUserspaceTunnel } from '@postern/host/userspace-tunnel'
import type { Logger } from 'pino'

export interface HangWatchOptions {
  exec: Exec
  interface: string
  log: Logger
  /** A hanging tunnel has been ended, and must be recreated. */
  onEnded(): void
  onProblem(): void
}

/** Ends a wireguard-go that hangs: nothing else would, and every node is cut off meanwhile. */
export function createHangWatch(options: HangWatchOptions) {
  const ending = new AbortController()
  let isHanging = false
  const end = async () => {
    const { stdout } = await options.exec.run('readlink', ['/proc/self/ns/net'])
    endUserspaceTunnel(options.interface, stdout.trim())
    options.onEnded()
  }
  const onLook = async (unanswered: number) => {
    const before = isHanging
    isHanging = unanswered > 0
    if (isHanging !== before) options.onProblem()
    if (unanswered < MOST_UNANSWERED) return
    options.log.warn('wireguard-go is not responding and is restarted')
    try {
      await end()
    } catch (err) {
      options.log.error({ err }, 'wireguard-go could not be ended; trying again')
    }
  }
  return {
    start(): void {
      watchUserspaceTunnel(options.interface, onLook, ending.signal).catch((err: unknown) =>
        options.log.error({ err }, 'the tunnel is not watched any more'),
      )
    },
    problems(): Problem[] {
      return isHanging ? [{ scope: { kind: 'edge' }, message: HANGS }] : []
    },
    close: () => ending.abort(),
  }
}

const HANGS = 'wireguard-go is not responding: no node can be reached until it restarts, within ten seconds.'
