import { messageOf } from './errors.ts'
import { networkReason } from './http.ts'

/** The address of the other end, chosen among those its name has. */
export interface Endpoint {
  /** Resolves the name again and, when asked to move on, takes the next address. @returns a problem in words. */
  refresh(host: string, moveOn: boolean): Promise<string | undefined>
  /** The chosen address, or undefined when the name was never resolved. */
  current(): string | undefined
  all(): readonly string[]
}

export function createEndpoint(listAddresses: (host: string) => Promise<string[]>): Endpoint {
  let name = ''
  let known: string[] = []
  let chosen: string | undefined

  return {
    async refresh(host, moveOn) {
      const isNew = host !== name
      try {
        const found = await listAddresses(host)
        if (found.length === 0) return `the name ${host} has no address`
        const before = chosen === undefined || isNew ? -1 : found.indexOf(chosen)
        chosen = found[before < 0 ? 0 : (before + (moveOn ? 1 : 0)) % found.length]
        known = found
        name = host
        return undefined
      } catch (error) {
        // The address that was right a minute ago is better than none, but only for the same name.
        if (isNew) chosen = undefined
        if (isNew) known = []
        return networkReason(host, error) || messageOf(error)
      }
    },
    current: () => chosen,
    all: () => known,
  }
}
