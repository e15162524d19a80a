import { endpoints } from '@postern/contract/endpoints'
import type { FastifyInstance } from 'fastify'
import { createHttpService, updateHttpService } from '../core/services/http.ts'
import { getService, listServices, removeService, setServiceEnabled } from '../core/services/services.ts'
import { patchRoute, route } from '../http/route.ts'

export function serviceRoutes(app: FastifyInstance): void {
  route(app, endpoints.listServices, ({ context, params, query }) =>
    listServices(context, { ...query, ...params }),
  )
  route(app, endpoints.listNodeServices, ({ context, params, query }) =>
    listServices(context, { ...query, ...params }),
  )
  route(app, endpoints.getService, ({ context, params }) => getService(context, params))
  route(app, endpoints.enableService, ({ context, actor, params }) =>
    setServiceEnabled(context, actor, params, true),
  )
  route(app, endpoints.disableService, ({ context, actor, params }) =>
    setServiceEnabled(context, actor, params, false),
  )
  route(app, endpoints.deleteService, ({ context, actor, params }) => removeService(context, actor, params))
  route(app, endpoints.createHttpService, ({ context, actor, params, body }) =>
    createHttpService(context, actor, params.nodeId, body),
  )
  patchRoute(app, endpoints.updateHttpService, ({ context, actor, params, patch }) =>
    updateHttpService(context, actor, params, patch),
  )
}
