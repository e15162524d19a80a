import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { signIn } from '../core/accounts/accounts.ts'
import type { SignInPlace } from '../core/accounts/begin-session.ts'
import { nameOf } from '../core/accounts/session-hosts.ts'
import { removeSession } from '../core/accounts/sessions.ts'
import { TICKET_MS } from '../core/accounts/tickets.ts'
import { keyOf } from '../http/auth.ts'
import { route } from '../http/route.ts'

export function authRoutes(app: FastifyInstance): void {
  route(app, endpoints.login, async ({ context, body, request }) => {
    const answer = await signIn(context, body, placeOf(request), keyOf(request))
    return 'token' in answer ? { token: answer.token, expires_in: answer.expiresIn } : answer
  })
  route(app, endpoints.logout, async ({ context, caller }) => {
    await removeSession(context, caller.sessionId)
    return {}
  })
  route(app, endpoints.ticket, ({ context, caller }) => ({
    ticket: context.tickets.issue(caller.sessionId),
    expires_in: TICKET_MS / 1000,
  }))
  route(app, endpoints.me, ({ caller }) => ({
    id: caller.userId,
    username: caller.username,
    role: caller.role,
    reach: caller.reach,
  }))
}

export function placeOf({ ip, host }: Pick<FastifyRequest, 'ip' | 'host'>): SignInPlace {
  return { address: ip ?? '', host: nameOf(host), site: host }
}
