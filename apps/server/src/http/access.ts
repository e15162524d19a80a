import type { Endpoint } from '@postern/contract/endpoints/endpoint'
import type { Context } from '../context.ts'
import type { Access } from '../core/access/access.ts'
import { hideNames } from '../core/access/hidden-names.ts'
import { visibleTo } from '../core/access/visible.ts'
import { ForbiddenError, NotFoundError, RequestError } from '../core/errors.ts'
import { type Caller, isPerson } from './auth.ts'

/**
 * The context in which a call runs. A limited person's looks find nothing but what they may see. What they change is
 * compared with everything, once `refuseBeyondReach` and the rules of the record have allowed it.
 */
export function contextFor(context: Context, caller: Caller, endpoint: Endpoint): Context {
  if (!isPerson(caller)) return context
  const isProgram = caller.kind === 'program'
  if (caller.role === 'admin' && !caller.reach && !isProgram) return context
  const access = { role: caller.role, reach: caller.reach, isProgram }
  if (!caller.reach) return { ...context, access }
  // What everybody may do is about themselves.
  const isLook = endpoint.roles !== 'any' && endpoint.roles?.includes('viewer')
  return isLook ? { ...context, access, db: visibleTo(context.db, caller.reach) } : { ...context, access }
}

/**
 * The record that an address names, for callers who are limited: one that they may not see does not exist for them.
 * @throws NotFoundError, ForbiddenError for a domain that is only there because a service of theirs is at it
 */
export async function refuseBeyondReach(
  context: Context,
  caller: Caller,
  endpoint: Endpoint,
  params: Readonly<Record<string, string>>,
): Promise<void> {
  if (!isPerson(caller) || !caller.reach) return
  const { nodes, domains } = caller.reach
  const { nodeId, id } = params
  if (nodeId !== undefined && !nodes.includes(Number(nodeId))) throw new NotFoundError('Node')
  if (id === undefined) return
  if (endpoint.noun === 'Node' && !nodes.includes(Number(id))) throw new NotFoundError('Node')
  if (endpoint.noun !== 'Domain' || domains.includes(Number(id))) return
  const seen = visibleTo(context.db, caller.reach)
    .selectFrom('domains')
    .select('id')
    .where('id', '=', Number(id))
  if (!(await seen.executeTakeFirst())) throw new NotFoundError('Domain')
  if (endpoint.roles !== 'any' && !endpoint.roles?.includes('viewer'))
    throw new ForbiddenError('Services of others are at this domain too. Ask an administrator.', 'role')
}

/**
 * An error for a limited person. What is taken is compared with everything.
 * @param context that of the server, which sees everything
 * @param typed what they sent, which they know
 */
export async function withoutHiddenNames(
  context: Context,
  access: Access,
  error: unknown,
  typed: unknown,
): Promise<unknown> {
  if (!(error instanceof RequestError) || !access.reach) return error
  const texts = [error.message, ...(error.errors ?? []).map(({ message }) => message)]
  return error.reworded(await hideNames(context.db, access, texts, typed))
}
