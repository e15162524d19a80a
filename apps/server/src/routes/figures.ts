import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { FastifyInstance } from 'fastify'
import {
  getAllFigures,
  getDomainFigures,
  getEdgeFigures,
  getNodeFigures,
  getServiceFigures,
} from '../core/figures/figures.ts'
import { readTraffic } from '../core/figures/traffic.ts'
import { route } from '../http/route.ts'

export function figureRoutes(app: FastifyInstance): void {
  route(app, endpoints.serviceFigures, ({ context, params, query }) =>
    getServiceFigures(context, params, query),
  )
  route(app, endpoints.nodeFigures, ({ context, params, query }) => getNodeFigures(context, params.id, query))
  route(app, endpoints.domainFigures, ({ context, params, query }) =>
    getDomainFigures(context, params.id, query),
  )
  route(app, endpoints.edgeFigures, ({ context, params, query }) => getEdgeFigures(context, params.id, query))
  route(app, endpoints.allFigures, ({ context, query }) => getAllFigures(context, query))
  route(app, endpoints.serviceTraffic, ({ context, query }) => readTraffic(context, 'services', query.ids))
  route(app, endpoints.nodeTraffic, ({ context, query }) => readTraffic(context, 'nodes', query.ids))
  route(app, endpoints.domainTraffic, ({ context, query }) => readTraffic(context, 'domains', query.ids))
  route(app, endpoints.edgeTraffic, ({ context, query }) => readTraffic(context, 'edges', query.ids))
}
