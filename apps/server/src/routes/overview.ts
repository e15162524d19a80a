import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { FastifyInstance } from 'fastify'
import { checkPublicHost } from '../core/domains/checks.ts'
import { findByText } from '../core/find/find.ts'
import { listAttention } from '../core/overview/attention.ts'
import { readOverview } from '../core/overview/overview.ts'
import { route } from '../http/route.ts'

export function overviewRoutes(app: FastifyInstance): void {
  route(app, endpoints.getOverview, ({ context }) => readOverview(context))
  route(app, endpoints.listAttention, ({ context, query }) => listAttention(context, query))
  route(app, endpoints.find, ({ context, query }) => findByText(context, query.text))
  route(app, endpoints.checkPublicHost, ({ context }) => checkPublicHost(context))
}
