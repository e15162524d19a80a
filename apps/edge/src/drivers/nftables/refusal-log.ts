import { REASONS } from '@postern/contract/requests/reasons'
import type { Exec } from '@postern/host/processes/exec'
import { tableOf } from '@postern/render/nftables/plan'
import { REFUSED_SETS } from '@postern/render/nftables/udp'
import { portRoutesOf, type RouteSections } from '@postern/render/resolved-route'
import { NOTHING_SAID } from '../haproxy/logs/kept-fields.ts'
import { textOf } from '../haproxy/logs/text.ts'
import type { KeptLine } from './flow-log.ts'
import { parseRefusals, type Refusal } from './nft-json.ts'

interface RefusalLogOptions {
  exec: Exec
  interface: string
  /** ms since the epoch. */
  now: () => number
  onLine(line: KeptLine): void
}

/**
 * Logs the visitors that the IP lists of UDP services refuse: each source at most once a minute, while there are such
 * lists.
 */
export interface RefusalLog {
  setRoutes(routes: RouteSections): void
  close(): void
}

/** Often enough to see each of the kernel's entries, which it keeps for a minute. */
const CHECK_INTERVAL = 10_000

export function createRefusalLog(options: RefusalLogOptions): RefusalLog {
  const { exec, now, onLine } = options
  /** Public port → service, of those with lists. */
  let services = new Map<number, number>()
  /** By source and port: when the kernel forgets its entry, as last read. */
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
      // A later time means that the entry was forgotten and made again in between.
      if (until < (seen.get(key) ?? 0) + CHECK_INTERVAL) continue
      const service = services.get(port)
      if (service === undefined) continue
      const visit = { time: String(at), source, request: `udp ${port}` }
      const text = textOf(visit, 'WARN', `refused ${REASONS.blocked}`)
      onLine({
        service,
        text,
        kept: { ...NOTHING_SAID, at, type: 'udp', service, source, reason: 'blocked' },
      })
    }
    seen = next
  }

  function plan(): void {
    clearTimeout(timer)
    timer = undefined
    if (services.size === 0) return
    // What cannot be read now is read the next time.
    timer = setTimeout(
      () =>
        void look()
          .catch(() => undefined)
          .finally(() => timer && plan()),
      CHECK_INTERVAL,
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
