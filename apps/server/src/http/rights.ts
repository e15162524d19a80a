import type { Endpoint } from '@postern/contract/endpoints/endpoint'
import type { Reach } from '@postern/contract/sign-in/auth'
import type { Actor } from '../changes/actor.ts'
import type { Context } from '../context.ts'
import { PERSON_ONLY } from '../core/access/access.ts'
import { requireRecent } from '../core/accounts/confirmations.ts'
import { getSession } from '../core/accounts/sessions.ts'
import { ForbiddenError } from '../core/errors.ts'
import { requireToken } from '../core/nodes/token-check.ts'
import { getProgram } from '../core/programs/check.ts'
import { type Caller, isPerson, type PersonCaller, refuseRights } from './auth.ts'

/** What a caller's changes ask, each in its own transaction: no wait of a handler lies between the look and the change. */
export function rightsOf(
  context: Context,
  caller: Caller,
  endpoint: Endpoint,
): Pick<Actor, 'requireRights' | 'requireRecent'> {
  if (caller.kind === 'node') return { requireRights: (tx) => requireToken(context, tx, caller) }
  if (!isPerson(caller)) return {}
  return {
    async requireRights(tx) {
      const now = await readAgain({ ...context, db: tx }, caller)
      refuseRights(context, now, endpoint)
      // What was asked for was compared with these.
      if (now.role !== caller.role || !isWithin(caller.reach, now.reach))
        throw new ForbiddenError('Your rights were changed meanwhile. Try again.', 'role')
    },
    async requireRecent(tx) {
      if (caller.kind !== 'session') throw new ForbiddenError(PERSON_ONLY, 'kind')
      await requireRecent({ ...context, db: tx }, caller.sessionId)
    },
  }
}

async function readAgain(context: Context, caller: PersonCaller): Promise<PersonCaller> {
  return caller.kind === 'session'
    ? { kind: 'session', ...(await getSession(context, caller.sessionId)) }
    : { kind: 'program', ...(await getProgram(context, caller.tokenId)) }
}

/** Somebody who makes a node or a domain reaches more than before. */
function isWithin(before: Reach, now: Reach): boolean {
  if (!now) return true
  if (!before) return false
  const { nodes, domains } = before
  return nodes.every((id) => now.nodes.includes(id)) && domains.every((id) => now.domains.includes(id))
}
