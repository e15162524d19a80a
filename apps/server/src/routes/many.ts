import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { FastifyInstance } from 'fastify'
import { changeDomains } from '../core/many/domains.ts'
import { changeNodes } from '../core/many/nodes.ts'
import { changeServices } from '../core/many/services.ts'
import { changeTokens } from '../core/many/tokens.ts'
import { route } from '../http/route.ts'

export function manyRoutes(app: FastifyInstance): void {
  route(app, endpoints.changeServices, ({ context, actor, body }) => changeServices(context, actor, body))
  route(app, endpoints.changeNodes, ({ context, actor, body }) => changeNodes(context, actor, body))
  route(app, endpoints.changeDomains, ({ context, actor, body }) => changeDomains(context, actor, body))
  route(app, endpoints.changeTokens, ({ context, actor, params, body }) =>
    changeTokens(context, actor, params.nodeId, body),
  )
}
