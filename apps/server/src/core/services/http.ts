import type { FieldError } from '@postern/contract/errors'
import { MESSAGES } from '@postern/contract/messages'
import { isReservedPath, reservedPathMessage } from '@postern/contract/reserved-paths'
import { HTTP_FIELDS } from '@postern/contract/service-fields'
import type { HttpService, HttpServiceForm } from '@postern/contract/services'
import type { Kysely } from 'kysely'
import type { Context } from '../../context.ts'
import { httpColumnsOf } from '../../db/columns.ts'
import type { Database } from '../../db/schema.ts'
import { listTlsPorts } from '../domains/members.ts'
import { quoteNames } from '../errors.ts'
import { findDomainId } from './public-domain.ts'
import { httpFormOf, toHttpService } from './records.ts'
import type { ServiceKind } from './save.ts'

/** HTTP services are found by domain and path; the console is one of them. */
export const http: ServiceKind<HttpServiceForm, HttpService> = {
  type: 'http',
  formOf: httpFormOf,
  toRecord: toHttpService,
  async find({ context, db }, form, before) {
    const unguarded = await findSignInProblem(db, form)
    const taken = await findTakenPath(db, form, before?.id)
    if (before?.system)
      return {
        invalid: [...findLockedChanges(httpFormOf(before), form), ...unguarded],
        taken: [...taken, ...(await findInConsolesWay(db, form, before.id))],
      }
    const message = await findPathProblem(context, db, form)
    const misplaced = message === undefined ? [] : [{ field: 'pathLocation', message }]
    return { invalid: [...misplaced, ...unguarded], taken }
  },
  columnsOf: async (_parts, form) => httpColumnsOf(form),
}

/** Only what has a domain with sign-in can require it. */
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

/** The path under which visitors find the service: with a domain of its own, the root unless said otherwise. */
function pathOf({ pathLocation }: Pick<HttpServiceForm, 'pathLocation'>): string {
  return pathLocation ?? '/'
}

/** Where the console answers, its paths and those of the API are not to be had. */
async function findPathProblem(
  { config }: Context,
  db: Kysely<Database>,
  { domain, pathLocation }: Partial<HttpServiceForm>,
): Promise<string | undefined> {
  if (domain === undefined || pathLocation === undefined) return undefined
  if (domain === null && pathLocation === null) return MESSAGES.required
  const isConsoles =
    domain === null || domain === config.publicHost || domain === (await findConsoleDomain(db))
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
  return [{ field: 'pathLocation', message: `${domain ?? ''}${path} already belongs to “${other.name}”` }]
}

/** The console stays where it is and leads to itself. Of what only HTTP services have, people choose the sign-in alone. */
const LOCKED = ['backendHost', ...Object.keys(HTTP_FIELDS)].filter((field) => field !== 'requireAuth')

function findLockedChanges(before: Record<string, unknown>, after: Record<string, unknown>): FieldError[] {
  return LOCKED.filter((field) => field in after && before[field] !== after[field]).map((field) => ({
    field,
    message: 'cannot be changed for the console',
  }))
}

/** A domain becomes the console's only when nothing else there has its paths or gets its cookies. */
async function findInConsolesWay(
  db: Kysely<Database>,
  { domain }: Partial<HttpServiceForm>,
  ownId: number,
): Promise<FieldError[]> {
  const domainId = domain ? await findDomainId(db, domain) : undefined
  if (domainId === undefined) return []
  const services = await db
    .selectFrom('services')
    .select(['name', 'path'])
    .where('domain_id', '=', domainId)
    .where('id', '!=', ownId)
    .execute()
  const names = services.filter(({ path }) => path !== null && isReservedPath(path)).map(({ name }) => name)
  if (names.length > 0)
    return [{ field: 'domain', message: `Paths of the console belong to ${quoteNames(names)} there` }]
  const ports = await listTlsPorts(db, domainId)
  if (ports.length === 0) return []
  const message = `Browsers would send the console's cookies to ${quoteNames(ports)} there. Give it another domain first.`
  return [{ field: 'domain', message }]
}
