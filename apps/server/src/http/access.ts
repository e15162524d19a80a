import type { Endpoint } from '@postern/contract/endpoints/endpoint'
import type { Context } from '../context.ts'
import type { Access } from '../core/access/access.ts'
import { visibleTo } from '../core/access/visible.ts'
import { ForbiddenError, NotFoundError, RequestError } from '../core/errors.ts'
import { type Caller, isPerson } from './auth.ts'

/**
 * The context in which a call runs. A limited person's looks find nothing but what they may see. What they change is
 * compared with everything, once `refuseBeyondReach` and the rules of the record have allowed it.
 */
export function contextFor(context: Context, caller: Caller, endpoint: Endpoint): Context {
  if (!isPerson(caller) || caller.role === 'admin') return context
  const access = { role: caller.role, reach: caller.reach }
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

const QUOTED = /“([^”]*)”/g
const HIDDEN = 'something that you may not see'

/**
 * An error for a limited person. What is taken is compared with everything, but the names of records that they may not
 * see are replaced.
 * @param context that of the server, which sees everything
 * @param typed what they sent, which they know
 */
export async function withoutHiddenNames(
  context: Context,
  { reach }: Access,
  error: unknown,
  typed: unknown,
): Promise<unknown> {
  if (!(error instanceof RequestError) || !reach) return error
  const texts = [error.message, ...(error.errors ?? []).map(({ message }) => message)]
  const named = texts.flatMap((text) => [...text.matchAll(QUOTED)].flatMap(([, name]) => name ?? []))
  if (named.length === 0) return error
  const db = visibleTo(context.db, reach)
  const seen = await Promise.all(
    (['nodes', 'services'] as const).map((table) =>
      db.selectFrom(table).select('name').where('name', 'in', named).execute(),
    ),
  )
  const own = JSON.stringify(typed ?? null)
  const known = new Set([
    ...seen.flat().map(({ name }) => name),
    ...named.filter((name) => own.includes(JSON.stringify(name))),
  ])
  const hide = (text: string) =>
    text.replace(QUOTED, (quoted, name: string) => (known.has(name) ? quoted : HIDDEN))
  return error.reworded(hide)
}
