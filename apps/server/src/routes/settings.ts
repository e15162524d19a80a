import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { FastifyInstance } from 'fastify'
import { readSettings } from '../core/settings/records.ts'
import { updateSettings } from '../core/settings/update.ts'
import { formRoute, route } from '../http/route.ts'

export function settingsRoutes(app: FastifyInstance): void {
  route(app, endpoints.getSettings, ({ context }) => readSettings(context))
  formRoute(app, endpoints.updateSettings, ({ context, actor, patch }) =>
    updateSettings(context, actor, patch),
  )
  route(app, endpoints.getBackups, ({ context }) => context.backups.state())
  route(app, endpoints.makeBackup, async ({ context, actor }) => {
    await context.backups.make(actor.name)
    return context.backups.state()
  })
}
