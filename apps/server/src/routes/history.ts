import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { FastifyInstance } from 'fastify'
import { exportHistory } from '../core/history/export.ts'
import { getChange, listHistory } from '../core/history/history.ts'
import { keepChange, listPendingChanges } from '../core/history/pending.ts'
import { undoChange } from '../core/history/undo.ts'
import { createExporter } from '../http/export.ts'
import { route } from '../http/route.ts'

export function historyRoutes(app: FastifyInstance): void {
  const send = createExporter()
  route(app, endpoints.listHistory, ({ context, query }) => listHistory(context, context.access, query))
  route(app, endpoints.exportHistory, ({ context, actor, caller, query, reply }) => {
    const { format, token: _, ...filters } = query
    const make = (signal: AbortSignal) =>
      exportHistory(context, actor, context.access, filters, format, signal)
    return send({ context, caller, reply, name: 'history', format, make })
  })
  route(app, endpoints.listPendingChanges, async ({ context, actor }) => ({
    data: await listPendingChanges(context, actor, context.access),
  }))
  route(app, endpoints.keepChange, ({ context, actor, params }) =>
    keepChange(context, actor, context.access, params.id),
  )
  route(app, endpoints.undoChange, ({ context, actor, params }) =>
    undoChange(context, actor, context.access, params.id),
  )
  route(app, endpoints.getChange, ({ context, params }) => getChange(context, context.access, params.id))
}
