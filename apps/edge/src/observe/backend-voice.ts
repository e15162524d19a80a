import type { BackendReport, BackendTrouble } from '@postern/contract/edge'
import { LIMITS } from '@postern/contract/limits'

export interface BackendVoice {
  /** What is wrong with this service's backend may be another thing than before. */
  say(service: number): void
  /** Says all that is wrong again. */
  sayAgain(): void
  close(): void
}

/** What comes and goes within this time is not said at all. */
const SAY_EVERY = 500

/**
 * Says what has changed, many at once and each only once.
 * @param send false when it could not be said
 * @param troubleOf what is wrong now
 */
export function createBackendVoice(
  send: (isFirst: boolean, backends: BackendReport[]) => boolean,
  troubleOf: (service: number) => BackendTrouble | null,
): BackendVoice {
  /** What the server knows; nothing is wrong with others. */
  const said = new Map<number, BackendTrouble>()
  const unsaid = new Set<number>()
  let isFirst = true
  let timer: NodeJS.Timeout | undefined

  const flush = () => {
    timer = undefined
    const news = [...unsaid].flatMap((service): BackendReport[] => {
      const trouble = troubleOf(service)
      return (said.get(service) ?? null) === trouble ? [] : [{ service, trouble }]
    })
    for (let start = 0; isFirst || start < news.length; start += LIMITS.backendReports) {
      const some = news.slice(start, start + LIMITS.backendReports)
      if (!send(isFirst, some)) return later()
      isFirst = false
      for (const { service, trouble } of some) {
        if (trouble) said.set(service, trouble)
        else said.delete(service)
      }
    }
    unsaid.clear()
  }
  const later = () => {
    timer ??= setTimeout(flush, SAY_EVERY)
  }
  return {
    say(service) {
      unsaid.add(service)
      later()
    },
    sayAgain() {
      for (const service of said.keys()) unsaid.add(service)
      said.clear()
      isFirst = true
      clearTimeout(timer)
      flush()
    },
    close: () => clearTimeout(timer),
  }
}
