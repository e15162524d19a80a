import type { BackendTrouble } from '@postern/contract/edge/edge'
import type { BackendReport } from '@postern/contract/edge/edge-messages'
import { LIMITS } from '@postern/contract/limits'

export interface BackendReporter {
  /** The trouble of this service's backend may have changed. */
  report(service: number): void
  /** Reports the changes now. */
  flush(): void
  /** Reports everything again, to a server that has no report yet. */
  reportAgain(): void
  close(): void
}

/** Trouble that lasts for less than this is not reported. */
const REPORT_EVERY = 500

/**
 * Reports changes, many at once and each only once.
 * @param send returns false when it could not send
 * @param troubleOf the present trouble of a service
 */
export function createBackendReporter(
  send: (isFirst: boolean, backends: BackendReport[]) => boolean,
  troubleOf: (service: number) => BackendTrouble | null,
): BackendReporter {
  /** What the server knows; for it, all others are well. */
  const reported = new Map<number, BackendTrouble>()
  const unreported = new Set<number>()
  let isFirst = true
  let timer: NodeJS.Timeout | undefined

  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    const news = [...unreported].flatMap((service): BackendReport[] => {
      const trouble = troubleOf(service)
      return (reported.get(service) ?? null) === trouble ? [] : [{ service, trouble }]
    })
    for (let start = 0; isFirst || start < news.length; start += LIMITS.backendReports) {
      const some = news.slice(start, start + LIMITS.backendReports)
      if (!send(isFirst, some)) return later()
      isFirst = false
      for (const { service, trouble } of some) {
        if (trouble) reported.set(service, trouble)
        else reported.delete(service)
      }
    }
    unreported.clear()
  }
  const later = () => {
    timer ??= setTimeout(flush, REPORT_EVERY)
  }
  return {
    report(service) {
      unreported.add(service)
      later()
    },
    reportAgain() {
      for (const service of reported.keys()) unreported.add(service)
      reported.clear()
      isFirst = true
      flush()
    },
    flush,
    close: () => clearTimeout(timer),
  }
}
