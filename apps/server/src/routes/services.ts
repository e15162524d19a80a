import { endpoints } from '@postern/contract/endpoints'
import type { FastifyInstance } from 'fastify'
import {
  createHttpService,
  getHttpService,
  listHttpServices,
  removeHttpService,
  setHttpServiceEnabled,
  updateHttpService,
} from '../core/http-services.ts'
import { patchRoute, route } from '../http/route.ts'

export function serviceRoutes(app: FastifyInstance): void {
  route(app, endpoints.listHttpServices, ({ context, query }) => listHttpServices(context, query))
  route(app, endpoints.listNodeHttpServices, ({ context, params, query }) =>
    listHttpServices(context, { ...query, ...params }),
  )
  route(app, endpoints.createHttpService, ({ context, actor, params, body }) =>
    createHttpService(context, actor, params.nodeId, body),
  )
  route(app, endpoints.getHttpService, ({ context, params }) => getHttpService(context, params))
  patchRoute(app, endpoints.updateHttpService, ({ context, actor, params, patch }) =>
    updateHttpService(context, actor, params, patch),
  )
  route(app, endpoints.enableHttpService, ({ context, actor, params }) =>
    setHttpServiceEnabled(context, actor, params, true),
  )
  route(app, endpoints.disableHttpService, ({ context, actor, params }) =>
    setHttpServiceEnabled(context, actor, params, false),
  )
  route(app, endpoints.deleteHttpService, ({ context, actor, params }) =>
    removeHttpService(context, actor, params),
  )
}
