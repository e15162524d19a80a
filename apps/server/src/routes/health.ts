import { endpoints } from '@postern/contract/endpoints'
import type { FastifyInstance } from 'fastify'
import { route } from '../http/route.ts'

export function healthRoutes(app: FastifyInstance): void {
  route(app, endpoints.health, async ({ context }) => {
    await context.db.selectFrom('settings').select('key').limit(1).execute()
    return { status: 'ok' as const }
  })
}
