import type { FieldError } from '@postern/contract/errors'
import { MESSAGES } from '@postern/contract/messages'
import { isReservedPath, reservedPathMessage } from '@postern/contract/reserved-paths'
import { HTTP_FIELDS } from '@postern/contract/services/service-fields'
import type { HttpService, HttpServiceForm } from '@postern/contract/services/services'
import type { Kysely } from 'kysely'
import type { Context } from '../../context.ts'
import { httpColumnsOf } from '../../db/columns.ts'
import type { Database } from '../../db/schema.ts'
import { isAdminInPerson } from '../access/access.ts'
import { listTlsPorts } from '../domains/members.ts'
import { findUsedName } from '../domains/used-names.ts'
import { quoted, quoteNames } from '../errors.ts'
import { findDomainId } from './public-domain.ts'
import { httpFormOf, type ServiceRecordRow, toHttpService } from './records.ts'
import type { ServiceKind } from './save.ts'

/** HTTP services are identified by domain and path; the console is one of them. */
export const http: ServiceKind<HttpServiceForm, HttpService> = {
  type: 'http',
  formOf: httpFormOf,
  toRecord: toHttpService,
  async find({ context, db }, form, before) {
    const unguarded = await findSignInProblem(db, form)
    const taken = await findTakenPath(db, form, before?.id)
    const used = await findUsed(context, db, form, before)
    if (before?.system)
      return {
        invalid: [
          ...findLockedChanges(httpFormOf(before), form),
          ...unguarded,
          ...used,
          ...(used.length > 0 ? [] : await findLeft(db, form, before)),
        ],
        taken: [...taken, ...(await findInConsolesWay(db, form, before.id))],
      }
    const message = await findPathProblem(context, db, form)
    const misplaced = message === undefined ? [] : [{ field: 'pathLocation', message }]
    return { invalid: [...misplaced, ...unguarded, ...used], taken }
  },
  columnsOf: async (_parts, form) => httpColumnsOf(form),
}

/** Asked about a name that is new for the service, and of the console also about the one that it leaves to others. */
async function findUsed(
  { access, config }: Context,
  db: Kysely<Database>,
  { domain, confirmUsedName }: Partial<HttpServiceForm>,
  before: ServiceRecordRow | undefined,
): Promise<FieldError[]> {
  const isAdmin = isAdminInPerson(access)
  if (!domain || (confirmUsedName && isAdmin) || domain === before?.domain) return []
  const isConsole = before?.system === 1
  const isThere = config.ownHosts.includes(domain) || domain === (await findConsoleDomain(db))
  if (!isConsole && isThere) return []
  const used = await findUsedName(db, { domain, isConsole })
  return isAdmin ? used : used.map(({ field }) => ({ field, message: MESSAGES.consolesName }))
}

/** Services that share the console's name would be alone there, and get what opens the console. */
async function findLeft(
  db: Kysely<Database>,
  { domain, confirmUsedName }: Partial<HttpServiceForm>,
  { id, domain_id, domain: from }: ServiceRecordRow,
): Promise<FieldError[]> {
  if (domain === undefined || domain === from || domain_id === null || confirmUsedName) return []
  const others = await db
    .selectFrom('services')
    .select('name')
    .where('domain_id', '=', domain_id)
    .where('id', '!=', id)
    .execute()
  return others.length === 0 ? [] : [{ field: 'domain', message: MESSAGES.leftServices }]
}

/** Only a service with a domain that has sign-in can require it. */
async function findSignInProblem(
  db: Kysely<Database>,
  { domain, requireAuth }: Partial<HttpServiceForm>,
): Promise<FieldError[]> {
  if (requireAuth !== true || !domain || (await hasSignIn(db, domain))) return []
  return [{ field: 'requireAuth', message: MESSAGES.noAuthentication }]
}

/** True for a domain at which visitors can sign in. */
export async function hasSignIn(db: Kysely<Database>, domain: string): Promise<boolean> {
  const row = await db
    .selectFrom('domains')
    .select('authentication')
    .where('domain', '=', domain)
    .executeTakeFirst()
  return row?.authentication === 1
}

/** The public path of the service: with a domain of its own, by default the root. */
function pathOf({ pathLocation }: Pick<HttpServiceForm, 'pathLocation'>): string {
  return pathLocation ?? '/'
}

/** Where the console answers, its paths and those of the API are reserved. */
async function findPathProblem(
  { config }: Context,
  db: Kysely<Database>,
  { domain, pathLocation }: Partial<HttpServiceForm>,
): Promise<string | undefined> {
  if (domain === undefined || pathLocation === undefined) return undefined
  if (domain === null && pathLocation === null) return MESSAGES.required
  const isConsoles =
    domain === null || config.ownHosts.includes(domain) || domain === (await findConsoleDomain(db))
  const path = pathOf({ pathLocation })
  return isConsoles && isReservedPath(path) ? reservedPathMessage(path, domain) : undefined
}

/** The domain at which the console answers besides the public host. */
export async function findConsoleDomain(db: Kysely<Database>): Promise<string | undefined> {
  const row = await db
    .selectFrom('services')
    .innerJoin('domains', 'domains.id', 'services.domain_id')
    .select('domain')
    .where('system', '=', 1)
    .executeTakeFirst()
  return row?.domain
}

/** No two services have the same domain and path. */
async function findTakenPath(
  db: Kysely<Database>,
  { domain, pathLocation }: Partial<HttpServiceForm>,
  ownId: number | undefined,
): Promise<FieldError[]> {
  if (domain === undefined || pathLocation === undefined) return []
  const domainId = domain === null ? null : await findDomainId(db, domain)
  if (domainId === undefined) return []
  const path = pathOf({ pathLocation })
  const other = await db
    .selectFrom('services')
    .select(['id', 'name'])
    .where('type', '=', 'http')
    .where('domain_id', domainId === null ? 'is' : '=', domainId)
    .where('path', '=', path)
    .executeTakeFirst()
  if (!other || other.id === ownId) return []
  return [
    { field: 'pathLocation', message: `${domain ?? ''}${path} already belongs to ${quoted(other.name)}` },
  ]
}

/**
 * The console's path and backend are fixed. Of the fields that only HTTP services have, people can change only the
 * sign-in.
 */
const LOCKED = ['backendHost', ...Object.keys(HTTP_FIELDS)].filter((field) => field !== 'requireAuth')

function findLockedChanges(before: Record<string, unknown>, after: Record<string, unknown>): FieldError[] {
  return LOCKED.filter((field) => field in after && before[field] !== after[field]).map((field) => ({
    field,
    message: 'cannot be changed for the console',
  }))
}

/** A domain can become the console's only when no other service there has its paths or gets its cookies. */
async function findInConsolesWay(
  db: Kysely<Database>,
  { domain }: Partial<HttpServiceForm>,
  ownId: number,
): Promise<FieldError[]> {
  const message = domain ? await whyNotConsoles(db, domain, ownId) : undefined
  return message === undefined ? [] : [{ field: 'domain', message }]
}

/** @param ownId the console's service. @returns undefined when the console may come to this name, otherwise why not */
export async function whyNotConsoles(
  db: Kysely<Database>,
  domain: string,
  ownId: number,
): Promise<string | undefined> {
  const domainId = await findDomainId(db, domain)
  if (domainId === undefined) return undefined
  const services = await db
    .selectFrom('services')
    .select(['name', 'path'])
    .where('domain_id', '=', domainId)
    .where('id', '!=', ownId)
    .orderBy('id')
    .execute()
  const names = services.filter(({ path }) => path !== null && isReservedPath(path)).map(({ name }) => name)
  if (names.length > 0) return `Paths of the console belong to ${quoteNames(names)} there`
  const ports = await listTlsPorts(db, domainId)
  if (ports.length === 0) return undefined
  return `Browsers would send the console's cookies to ${quoteNames(ports)} there. Give it another domain first.`
}
