import { lookup, Resolver } from 'node:dns/promises'
import type { Question } from './target-rules.ts'

/** How names are looked up; addresses as the resolver gave them. Both throw when there is no answer. */
export interface Lookups {
  /** As any program of this machine would, with /etc/hosts. */
  system(name: string): Promise<string[]>
  /** By asking a name server, `address` or `address:port`. */
  at(server: string, name: string, families: readonly (4 | 6)[]): Promise<string[]>
}

export interface Asked {
  /** The addresses; rejects after the deadline, or with what the resolver said. */
  answer: Promise<string[]>
  /** Ends with the look-up itself, which may outlive the deadline. Never rejects. */
  done: Promise<unknown>
}

/** ms. */
const DEADLINE = 2000

export function ask(lookups: Lookups, { name, server, families }: Question): Asked {
  const asked = server === null ? lookups.system(name) : lookups.at(server, name, families)
  return { answer: withDeadline(asked).then(refuseNone), done: asked.catch(() => undefined) }
}

function refuseNone(addresses: string[]): string[] {
  if (addresses.length === 0) throw Object.assign(new Error('no address'), { code: 'ENODATA' })
  return addresses
}

function withDeadline<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(Object.assign(new Error('late'), { code: 'ETIMEOUT' })), DEADLINE)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** Why a name has no address, for people. */
export function wordsFor({ name, server }: Question, error: unknown): string {
  const who = server === null ? 'The edge' : 'The name server of the gateway'
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOTFOUND' || code === 'ENODATA') return `${who} knows no host ${name}.`
  return server === null ? `DNS lookup for ${name} failed on the edge.` : `${who} gave no answer for ${name}.`
}

/** The real look-ups: getaddrinfo, and c-ares with a server of the question's own. */
export function createLookups(): Lookups {
  return {
    system: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
    async at(server, name, families) {
      const resolver = new Resolver({ timeout: DEADLINE - 200, tries: 1 })
      resolver.setServers([server])
      const asked = families.map((family) =>
        family === 4 ? resolver.resolve4(name) : resolver.resolve6(name),
      )
      const results = await Promise.allSettled(asked)
      const found = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
      const failed = results.find((result) => result.status === 'rejected')
      if (found.length === 0 && failed) throw failed.reason
      return found
    },
  }
}
