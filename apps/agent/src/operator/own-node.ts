import { createTrust } from '@postern/host/trust'
import * as z from 'zod/mini'
import type { Call } from '../cli/command.ts'
import { createServerClient } from '../daemon/server-client.ts'
import { MAX_OFFERS, type Offer } from '../discovery/offer.ts'
import { describe, type Published } from '../discovery/published.ts'
import { AgentError } from '../errors.ts'
import { findJson, writePrivate } from '../files.ts'
import { printable } from '../io.ts'
import { findCredentials } from '../store.ts'
import { hasServer } from './servers.ts'

/** The source of what this machine publishes by command. Each source has its own services. */
const SOURCE = 'command'

const Kept = z.object({
  services: z.array(z.looseObject({ key: z.string(), type: z.string(), name: z.string() })),
})
/** As the server's API has it; the server checks the fields. */
export type OwnService = z.infer<typeof Kept>['services'][number]

export interface NewService {
  type: string
  name: string
  [field: string]: unknown
}

/** This machine as a node: what it may publish by itself with its own token, if nobody has signed in here. */
export interface OwnNode {
  list(): Promise<OwnService[]>
  /** @throws AgentError when the server refuses it, and then it is not kept */
  publish(service: NewService): Promise<Published>
  /** @throws AgentError */
  remove(name: string): Promise<OwnService>
}

export async function findOwnNode(call: Call, serverName: string | undefined): Promise<OwnNode | undefined> {
  const { context, paths } = call
  if (serverName !== undefined || !context.isPrivileged || (await hasServer(call))) return undefined
  const credentials = await findCredentials(paths)
  if (!credentials) return undefined
  const { url, token, ca } = credentials
  const client = createServerClient({ url: new URL(url), token, trust: createTrust(ca) })
  const file = `${paths.configDir}/published.json`
  const list = async () => {
    const { services = [] } = (await findJson(file, Kept)) ?? {}
    // What has ended is gone at the server, too.
    return services.filter(({ endsAt }) => typeof endsAt !== 'string' || Date.parse(endsAt) > context.now())
  }
  const send = async (services: readonly OwnService[]) => {
    const outcomes = await client.publish(SOURCE, services as unknown as Offer[])
    const refused = new Set(outcomes.flatMap((one) => (one.state === 'refused' ? [one.key] : [])))
    const kept = services.filter(({ key }) => !refused.has(key))
    await writePrivate(file, `${JSON.stringify({ services: kept }, null, 2)}\n`)
    return outcomes
  }
  return {
    list,
    async publish(service) {
      const own: OwnService = { ...service, key: keyOf(service) }
      const others = (await list()).filter(({ key }) => key !== own.key)
      if (others.length >= MAX_OFFERS)
        throw new AgentError('refused', `A node publishes ${MAX_OFFERS} services at most`)
      const outcomes = await send([...others, own])
      const outcome = outcomes.find(({ key }) => key === own.key)
      if (outcome && outcome.state !== 'refused') return outcome
      throw new AgentError(
        'refused',
        outcome ? describe(outcome) : 'The server did not say what became of it',
      )
    },
    async remove(name) {
      const all = await list()
      const found = all.find((one) => one.name === name || one.key === name)
      if (!found)
        throw new AgentError('not-found', `This machine publishes no “${printable(name)}” by command`)
      await send(all.filter((one) => one !== found))
      return found
    },
  }
}

/** The same name and kind is the same service, which is then changed. */
function keyOf({ type, name }: NewService): string {
  return `${type} ${encodeURIComponent(name)}`.slice(0, 200)
}

/** A form of the API as a source sends it: an end is a moment, and what is absent is not there. */
export function toOwnService(
  type: 'http' | 'tcp' | 'udp',
  { ttl, ...form }: Record<string, unknown>,
  now: number,
): NewService {
  const end = typeof ttl === 'number' ? { endsAt: new Date(now + ttl * 1000).toISOString() } : {}
  const fields = Object.entries({ ...form, ...end }).filter(([, value]) => value !== undefined)
  return { type, name: String(form.name), ...Object.fromEntries(fields) }
}
