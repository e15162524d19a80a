import { endpoints } from '@postern/contract/endpoints'
import type { FastifyInstance } from 'fastify'
import { getUserByPassword } from '../core/accounts.ts'
import { createSession, removeSession } from '../core/sessions.ts'
import { route } from '../http/route.ts'

export function authRoutes(app: FastifyInstance): void {
  route(app, endpoints.login, async ({ context, body, request }) => {
    context.loginLimits.take(body.username, request.ip ?? '')
    const user = await getUserByPassword(context, body)
    context.loginLimits.forgive(body.username, request.ip ?? '')
    const { token, expiresIn } = await createSession(context, user.id)
    return { token, expires_in: expiresIn }
  })
  route(app, endpoints.logout, async ({ context, caller }) => {
    await removeSession(context, caller.sessionId)
    return {}
  })
  route(app, endpoints.me, ({ caller }) => ({
    id: caller.userId,
    username: caller.username,
    role: 'admin' as const,
  }))
}
