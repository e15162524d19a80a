import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { FastifyInstance } from 'fastify'
import { publicUrl } from '../config.ts'
import { addEdge, drainEdge, editEdge, removeEdge } from '../core/edges/edit.ts'
import { makeJoinToken } from '../core/edges/join-tokens.ts'
import { withoutWords } from '../core/edges/list.ts'
import { formRoute, route } from '../http/route.ts'

/** Edges, for people. */
export function edgesRoutes(app: FastifyInstance): void {
  route(app, endpoints.listEdges, async ({ context }) => {
    const edges = await context.edges.list()
    return context.access.reach ? edges.map(withoutWords) : edges
  })
  formRoute(app, endpoints.addEdge, ({ context, actor, patch }) => addEdge(context, actor, patch))
  formRoute(app, endpoints.editEdge, ({ context, actor, params, patch }) =>
    editEdge(context, actor, params.id, patch),
  )
  route(app, endpoints.drainEdge, ({ context, actor, params }) => drainEdge(context, actor, params.id, true))
  route(app, endpoints.undrainEdge, ({ context, actor, params }) =>
    drainEdge(context, actor, params.id, false),
  )
  route(app, endpoints.getEdgeInstaller, async ({ context }) => {
    const installer = await context.edgeFiles.installer()
    return { url: `${publicUrl(context.config)}/install/edge.sh`, sha256: installer?.sha256 ?? null }
  })
  route(app, endpoints.makeJoinToken, ({ context, actor, params }) =>
    makeJoinToken(context, actor, params.id),
  )
  route(app, endpoints.removeEdge, ({ context, actor, params }) => removeEdge(context, actor, params.id))
}
