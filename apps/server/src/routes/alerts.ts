import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { FastifyInstance } from 'fastify'
import {
  createChannel,
  getChannel,
  listChannels,
  removeChannel,
  updateChannel,
} from '../core/alerts/channels.ts'
import { listAlerts, listDeliveries } from '../core/alerts/history.ts'
import { readQuietHours, setQuietHours } from '../core/alerts/quiet-hours.ts'
import {
  createFigureRule,
  getRule,
  listRules,
  removeFigureRule,
  updateBuiltInRule,
  updateFigureRule,
} from '../core/alerts/rules.ts'
import { testChannel } from '../core/alerts/test-channel.ts'
import { formRoute, route } from '../http/route.ts'

export function alertRoutes(app: FastifyInstance): void {
  route(app, endpoints.listAlerts, ({ context, query }) => listAlerts(context, query))
  route(app, endpoints.listDeliveries, ({ context, query }) => listDeliveries(context, query))
  route(app, endpoints.listChannels, ({ context }) => listChannels(context))
  route(app, endpoints.getChannel, ({ context, params }) => getChannel(context, params.id))
  formRoute(app, endpoints.createChannel, ({ context, actor, patch }) => createChannel(context, actor, patch))
  formRoute(app, endpoints.updateChannel, ({ context, actor, params, patch }) =>
    updateChannel(context, actor, params.id, patch),
  )
  route(app, endpoints.deleteChannel, ({ context, actor, params }) =>
    removeChannel(context, actor, params.id),
  )
  route(app, endpoints.testChannel, ({ context, actor, body }) =>
    testChannel(context, actor.name, body.channel, body.id ?? null),
  )
  route(app, endpoints.listAlertRules, ({ context }) => listRules(context))
  route(app, endpoints.getAlertRule, ({ context, params }) => getRule(context.db, params.id))
  formRoute(app, endpoints.updateBuiltInRule, ({ context, actor, params, patch }) =>
    updateBuiltInRule(context, actor, params.id, patch),
  )
  formRoute(app, endpoints.createFigureRule, ({ context, actor, patch }) =>
    createFigureRule(context, actor, patch),
  )
  formRoute(app, endpoints.updateFigureRule, ({ context, actor, params, patch }) =>
    updateFigureRule(context, actor, params.id, patch),
  )
  route(app, endpoints.deleteFigureRule, ({ context, actor, params }) =>
    removeFigureRule(context, actor, params.id),
  )
  route(app, endpoints.getQuietHours, ({ context }) => readQuietHours(context))
  route(app, endpoints.setQuietHours, ({ context, actor, body }) => setQuietHours(context, actor, body))
}
