import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { FastifyInstance } from 'fastify'
import { rotateToken } from '../core/nodes/rotation.ts'
import { createToken, listTokens, removeToken, revokeToken } from '../core/nodes/tokens.ts'
import { formRoute, route } from '../http/route.ts'

export function tokenRoutes(app: FastifyInstance): void {
  route(app, endpoints.listTokens, ({ context, params, query }) => listTokens(context, params.nodeId, query))
  formRoute(app, endpoints.createToken, ({ context, actor, params, patch }) =>
    createToken(context, actor, params.nodeId, patch),
  )
  route(app, endpoints.rotateToken, ({ context, actor, params }) => rotateToken(context, actor, params))
  route(app, endpoints.revokeToken, ({ context, actor, params, query }) =>
    revokeToken(context, actor, params, query),
  )
  route(app, endpoints.deleteToken, ({ context, actor, params, query }) =>
    removeToken(context, actor, params, query),
  )
}
