import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { Account } from '@postern/contract/sign-in/auth'
import type { FastifyInstance } from 'fastify'
import { signIn } from '../core/accounts/accounts.ts'
import { removeSession } from '../core/accounts/sessions.ts'
import { TICKET_MS } from '../core/accounts/tickets.ts'
import { keyOf, originOf, type SessionCaller } from '../http/auth.ts'
import { route } from '../http/route.ts'

export function authRoutes(app: FastifyInstance): void {
  route(app, endpoints.login, async ({ context, body, request }) => {
    const { token, expiresIn } = await signIn(context, body, originOf(request), keyOf(request))
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
  route(app, endpoints.me, ({ caller }) => accountOf(caller))
}

export function accountOf({ userId, username, role, reach }: SessionCaller): Account {
  return { id: userId, username, role, reach }
}
