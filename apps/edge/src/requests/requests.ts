import type { Problem } from '@postern/contract/edge/edge'
import type { EdgeMessage } from '@postern/contract/edge/edge-messages'
import type { KeptRequest, KeptSearch } from '@postern/contract/requests/kept'
import type { EdgeSettings } from '@postern/contract/settings/settings'
import type { Exec } from '@postern/host/processes/exec'
import type { RouteSections } from '@postern/render/resolved-route'
import type { Logger } from 'pino'
import type { KeptRequests } from '../kept-requests.ts'
import { createAccessLog } from './access-log/access-log.ts'
import { createRequestArchive } from './archive.ts'
import { createRequestStore } from './store.ts'

interface RequestsOptions {
  /** Of another log. */
  settings: Pick<EdgeSettings, 'POSTERN_REQUESTS_LOG' | 'POSTERN_PUBLIC_HOST'>
  kept: KeptRequests
  directory: string
  now: () => number
  log: Logger
  exec: Exec
  /** @returns false when there is no connection */
  send(message: EdgeMessage): boolean
  onProblem(): void
}

/** Where requests go when they have ended: into the edge's files, and to a log of others where that is wanted. */
export interface Requests {
  start(): Promise<void>
  /** Removes at once what is not to be kept any more. */
  setKept(kept: KeptRequests): void
  keep(request: KeptRequest): void
  noteLost(count: number): void
  setRoutes(routes: RouteSections): void
  search(search: KeptSearch): void
  forget(ask: number): void
  problems(): Problem[]
  close(): Promise<void>
}

const DAY = 24 * 3_600_000
const MB = 1024 * 1024

export function createRequests({ settings, directory, exec, ...options }: RequestsOptions): Requests {
  let { kept } = options
  const store = createRequestStore({
    directory,
    limits: () => ({ maxBytes: kept.megabytes * MB, maxAge: kept.days * DAY }),
    now: options.now,
  })
  const archive = createRequestArchive({ ...options, store })
  const accessLog = createAccessLog({
    ...options,
    exec,
    destination: settings.POSTERN_REQUESTS_LOG,
    host: settings.POSTERN_PUBLIC_HOST,
  })
  return {
    start: archive.start,
    setKept(next) {
      const isLess = next.days < kept.days || next.megabytes < kept.megabytes
      kept = next
      if (isLess) archive.tidy()
    },
    keep(request) {
      if (kept.days > 0) archive.keep(request)
      accessLog?.write(request)
    },
    noteLost(count) {
      if (kept.days > 0) archive.noteLost(count)
    },
    setRoutes: (routes) => accessLog?.setRoutes(routes),
    search: archive.search,
    forget: archive.forget,
    problems: () => [...archive.problems(), ...(accessLog?.problems() ?? [])],
    async close() {
      await archive.close()
      await accessLog?.close()
    },
  }
}
