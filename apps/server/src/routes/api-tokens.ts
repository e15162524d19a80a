import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { FastifyInstance } from 'fastify'
import { createApiToken, listApiTokens, removeApiToken, revokeApiToken } from '../core/programs/tokens.ts'
import { arrivalOf } from '../http/auth.ts'
import { formRoute, route } from '../http/route.ts'

export function apiTokenRoutes(app: FastifyInstance): void {
  route(app, endpoints.listApiTokens, ({ context, caller }) => listApiTokens(context, caller))
  formRoute(app, endpoints.createApiToken, ({ context, actor, caller, patch, request }) =>
    createApiToken(context, actor, caller, patch, arrivalOf(request)),
  )
  route(app, endpoints.revokeApiToken, ({ context, actor, caller, params }) =>
    revokeApiToken(context, actor, caller, params.id),
  )
  route(app, endpoints.deleteApiToken, ({ context, actor, caller, params }) =>
    removeApiToken(context, actor, caller, params.id),
  )
}
