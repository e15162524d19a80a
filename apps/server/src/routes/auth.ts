import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { FastifyInstance } from 'fastify'
import { signIn } from '../core/accounts/accounts.ts'
import { nameOf } from '../core/accounts/session-hosts.ts'
import { removeSession } from '../core/accounts/sessions.ts'
import { TICKET_MS } from '../core/accounts/tickets.ts'
import { keyOf } from '../http/auth.ts'
import { route } from '../http/route.ts'

export function authRoutes(app: FastifyInstance): void {
  route(app, endpoints.login, async ({ context, body, request }) => {
    const { isBehindProxy } = app
    const arrival = { address: request.ip ?? '', isBehindProxy, host: nameOf(request.host) }
    const { token, expiresIn } = await signIn(context, body, arrival, keyOf(request))
    return { token, expires_in: expiresIn }
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
  }))
}
