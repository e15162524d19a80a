import type { Exec } from '@postern/host/exec'
import { tableOf } from '@postern/render/nftables/plan'
import { REFUSED_SETS } from '@postern/render/nftables/udp'
import { portRoutesOf, type RouteSections } from '@postern/render/resolved-route'
import { BLOCKED, textOf } from '../haproxy/logs/line.ts'
import { parseRefusals, type Refusal } from './nft-json.ts'

interface RefusalLogOptions {
  exec: Exec
  interface: string
  /** ms since the epoch. */
  now: () => number
  onLine(line: { service: number; text: string }): void
}

/** Says whom the IP lists of UDP services turn away: each source at most once a minute, while there are such lists. */
export interface RefusalLog {
  setRoutes(routes: RouteSections): void
  close(): void
}

/** Often enough to meet every note of the kernel, which it keeps for a minute. */
const LOOK_EVERY = 10_000

export function createRefusalLog(options: RefusalLogOptions): RefusalLog {
  const { exec, now, onLine } = options
  /** Public port → service, of those with lists. */
  let services = new Map<number, number>()
  /** When the kernel forgets what it noted, by source and port, as it was seen last. */
  let seen = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined

  async function look(): Promise<void> {
    const found: Refusal[] = []
    for (const name of Object.keys(REFUSED_SETS)) {
      const args = ['-j', 'list', 'set', 'inet', tableOf(options.interface), name]
      const { code, stdout } = await exec.run('nft', args)
      if (code === 0) found.push(...parseRefusals(stdout))
    }
    const at = now()
    const next = new Map<string, number>()
    for (const { port, source, expires } of found) {
      const key = `${port} ${source}`
      const until = at + expires * 1000
      next.set(key, until)
      // One that lasts longer than it did was forgotten and noted again in between.
      if (until < (seen.get(key) ?? 0) + LOOK_EVERY) continue
      const service = services.get(port)
      const visit = { time: String(at), source, request: `udp ${port}` }
      if (service !== undefined) onLine({ service, text: textOf(visit, 'WARN', `refused ${BLOCKED}`) })
    }
    seen = next
  }

  function plan(): void {
    clearTimeout(timer)
    timer = undefined
    if (services.size === 0) return
    // What cannot be read now is read at the next look.
    timer = setTimeout(
      () =>
        void look()
          .catch(() => undefined)
          .finally(() => timer && plan()),
      LOOK_EVERY,
    )
  }

  return {
    setRoutes(routes) {
      const listed = portRoutesOf(routes).filter(
        ({ proto, enabled, allowedIps, blockedIps }) =>
          proto === 'udp' && enabled && allowedIps.length + blockedIps.length > 0,
      )
      services = new Map(listed.map(({ port, id }) => [port, id]))
      if ((timer === undefined) === services.size > 0) plan()
    },
    close() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}
