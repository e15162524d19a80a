import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { Account } from '@postern/contract/sign-in/auth'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { signIn } from '../core/accounts/accounts.ts'
import type { SignInPlace } from '../core/accounts/begin-session.ts'
import { describeBrowser } from '../core/accounts/browser.ts'
import { nameOf } from '../core/accounts/session-hosts.ts'
import { removeSession } from '../core/accounts/sessions.ts'
import { TICKET_MS } from '../core/accounts/tickets.ts'
import { arrivalOf, keyOf, type PersonCaller } from '../http/auth.ts'
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
  route(app, endpoints.me, ({ caller }) => accountOf(caller))
}

export function accountOf({ userId, username, role, reach }: Omit<PersonCaller, 'kind'>): Account {
  return { id: userId, username, role, reach }
}

export function placeOf(request: FastifyRequest): SignInPlace {
  const { host, headers } = request
  const browser = describeBrowser(headers['user-agent'])
  return { ...arrivalOf(request), host: nameOf(host), site: host, browser }
}
