import { endpoints } from '@postern/contract/endpoints'
import type { FastifyInstance } from 'fastify'
import { route } from '../http/route.ts'

export function edgesRoutes(app: FastifyInstance): void {
  route(app, endpoints.listEdges, ({ context }) => context.edges.list())
}
