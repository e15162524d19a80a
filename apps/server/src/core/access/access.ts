import type { Reach, Role } from '@postern/contract/sign-in/auth'
import type { Kysely } from 'kysely'
import type { Flag } from '../../db/columns.ts'
import type { Database } from '../../db/schema.ts'
import { ForbiddenError } from '../errors.ts'

/** What a caller may do, and with which records. */
export interface Access {
  role: Role
  reach: Reach
  /** With an API token, which must not become a way in for people. */
  isProgram?: boolean
}

/** Of the installation itself, and of agents, whose own rules hold besides. */
export const UNLIMITED: Access = { role: 'admin', reach: null }

/** What programs are told where people alone may do something. */
export const PERSON_ONLY = 'Only a person who is signed in can do this, and no API token'

/** What the console's own names are for: whoever has them gets passwords. */
export const isAdminInPerson = ({ role, isProgram }: Access): boolean =>
  role === 'admin' && isProgram !== true

/** @throws ForbiddenError for everybody but an administrator in person */
export function requireAdminInPerson(access: Access): void {
  if (isAdminInPerson(access)) return
  if (access.role === 'admin') throw new ForbiddenError(PERSON_ONLY, 'kind')
  throw new ForbiddenError('Your role does not allow this. Ask an administrator.', 'role')
}

export const mayReachNode = ({ reach }: Access, id: number): boolean => !reach || reach.nodes.includes(id)

export const mayReachDomain = ({ reach }: Access, id: number | undefined): boolean =>
  !reach || (id !== undefined && reach.domains.includes(id))

/** Whether limits count: a role that rules gave for a while leaves those of the smaller role where they are. */
export const isLimited = ({ role, is_limited }: { role: Role; is_limited: Flag }): boolean =>
  role !== 'admin' && is_limited === 1

/** What a person is limited to. */
export async function readReach(
  db: Kysely<Database>,
  userId: number,
  user: { role: Role; is_limited: Flag },
): Promise<Reach> {
  if (!isLimited(user)) return null
  const nodes = await db
    .selectFrom('user_nodes')
    .select('node_id')
    .where('user_id', '=', userId)
    .orderBy('node_id')
    .execute()
  const domains = await db
    .selectFrom('user_domains')
    .select('domain_id')
    .where('user_id', '=', userId)
    .orderBy('domain_id')
    .execute()
  return { nodes: nodes.map(({ node_id }) => node_id), domains: domains.map(({ domain_id }) => domain_id) }
}
