import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { FastifyInstance } from 'fastify'
import { muteService } from '../core/mutes/set-mute.ts'
import { listAllServices } from '../core/services/all.ts'
import { http } from '../core/services/http.ts'
import { createService, updateService } from '../core/services/save.ts'
import { getService, listServices, removeService, setServiceEnabled } from '../core/services/services.ts'
import { tcp } from '../core/services/tcp.ts'
import { formRoute, route } from '../http/route.ts'

export function serviceRoutes(app: FastifyInstance): void {
  route(app, endpoints.listAllServices, ({ context, query }) => listAllServices(context, query))
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
  route(app, endpoints.muteService, ({ context, actor, params, body }) =>
    muteService(context, actor, params, body),
  )
  route(app, endpoints.unmuteService, ({ context, actor, params }) =>
    muteService(context, actor, params, null),
  )
  route(app, endpoints.deleteService, ({ context, actor, params }) => removeService(context, actor, params))
  formRoute(app, endpoints.createHttpService, ({ context, actor, params, patch }) =>
    createService(context, actor, http, params.nodeId, patch),
  )
  formRoute(app, endpoints.updateHttpService, ({ context, actor, params, patch }) =>
    updateService(context, actor, http, params, patch),
  )
  formRoute(app, endpoints.createTcpService, ({ context, actor, params, patch }) =>
    createService(context, actor, tcp, params.nodeId, patch),
  )
  formRoute(app, endpoints.updateTcpService, ({ context, actor, params, patch }) =>
    updateService(context, actor, tcp, params, patch),
  )
}
