import { endpoints } from '@postern/contract/endpoints'
import type { FastifyInstance } from 'fastify'
import { findByText } from '../core/find/find.ts'
import { route } from '../http/route.ts'

export function findRoutes(app: FastifyInstance): void {
  route(app, endpoints.find, ({ context, query }) => findByText(context, query.text))
}
