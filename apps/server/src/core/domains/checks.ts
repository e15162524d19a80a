import type { Domain, DomainForm } from '@postern/contract/domains'
import type { FieldError } from '@postern/contract/errors'
import { MESSAGES } from '@postern/contract/messages'
import type { PublicHostCheck } from '@postern/contract/overview'
import { findIp } from '@postern/net/ip'
import type { Kysely } from 'kysely'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import type { Readable } from '../patch.ts'
import { findPointingProblem, type Here, judgeLookup } from './domain-check.ts'

/** A public authority signs only for a name that it can check. */
export function findKindProblem({ ssl, skipValidation }: Partial<DomainForm>): FieldError[] {
  return ssl === 'certbot' && skipValidation ? [{ field: 'ssl', message: MESSAGES.selfSignedOnly }] : []
}

/** Why a name cannot be a domain, in words. Outside any transaction, because name servers may be slow. */
export async function findDomainProblem(
  context: Context,
  domain: string,
  skipValidation: boolean,
): Promise<string | undefined> {
  if (context.config.ownHosts.includes(domain))
    return "This is the server's own address. Leave the domain empty to use it."
  return skipValidation ? undefined : await findPointingProblem(context, domain, hereOf(context))
}

/** Checks whether the installation's own name leads to it. An address needs no DNS. */
export async function checkPublicHost(context: Context): Promise<PublicHostCheck> {
  const host = context.config.publicHost
  const isName = findIp(host) === undefined
  const problem = isName ? await findPointingProblem(context, host, hereOf(context)) : undefined
  return { host, isName, problem: problem ?? null }
}

/** Why a host should not become the public one, in words: it does not lead here, as far as this server can see. */
export async function findHostProblem(context: Context, host: string): Promise<string | undefined> {
  const here = hereOf(context)
  if (findIp(host) === undefined) return await findPointingProblem(context, host, here)
  const problem = await judgeLookup(context, host, here, Promise.resolve([host]))
  return problem && `A request to ${host} does not come to this server.`
}

/** Where this server is. */
export function hereOf({ config: { publicHost }, network }: Pick<Context, 'config' | 'network'>): Here {
  const ownAddresses = network().addresses.filter((address) => !/^(127\.|::1$|fe80:)/.test(address))
  return { publicHost, ownAddresses }
}

export async function findTaken(db: Kysely<Database>, domain: string): Promise<FieldError[]> {
  const taken = await db.selectFrom('domains').select('id').where('domain', '=', domain).executeTakeFirst()
  return taken ? [{ field: 'domain', message: `${domain} already exists` }] : []
}

/** The fields of a changed form that do not fit the domain as it is. */
export async function findUpdateProblems(
  context: Context,
  before: Domain,
  { domain = before.domain, skipValidation = before.skipValidation }: Readable<DomainForm>,
): Promise<FieldError[]> {
  const isRenamed = domain !== before.domain
  const isAsked = isRenamed || (before.skipValidation && !skipValidation)
  const message = isAsked ? await findDomainProblem(context, domain, skipValidation) : undefined
  return message === undefined ? [] : [{ field: 'domain', message }]
}
