import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { NodeQuery } from '@postern/contract/nodes'
import type { FastifyInstance } from 'fastify'
import type { Touched } from '../changes/live.ts'
import type { Context } from '../context.ts'
import { NotFoundError } from '../core/errors.ts'
import { muteNode } from '../core/mutes/set-mute.ts'
import { getNodeFile } from '../core/nodes/keys.ts'
import { listNodes } from '../core/nodes/list.ts'
import { createNode, getNode, removeNode, setNodeEnabled, updateNode } from '../core/nodes/nodes.ts'
import type { Topic } from '../core/streams/feeds.ts'
import { type Call, formRoute, route } from '../http/route.ts'
import { type EventStream, openStream } from '../http/sse.ts'

export function nodeRoutes(app: FastifyInstance): void {
  route(app, endpoints.listNodes, ({ context, query }) => listNodes(context, query))
  formRoute(app, endpoints.createNode, ({ context, actor, patch }) => createNode(context, actor, patch))
  route(app, endpoints.getNode, ({ context, params }) => getNode(context, params.id))
  formRoute(app, endpoints.updateNode, ({ context, actor, params, patch }) =>
    updateNode(context, actor, params.id, patch),
  )
  route(app, endpoints.deleteNode, ({ context, actor, params }) => removeNode(context, actor, params.id))
  route(app, endpoints.enableNode, ({ context, actor, params }) =>
    setNodeEnabled(context, actor, params.id, true),
  )
  route(app, endpoints.disableNode, ({ context, actor, params }) =>
    setNodeEnabled(context, actor, params.id, false),
  )
  route(app, endpoints.muteNode, ({ context, actor, params, body }) =>
    muteNode(context, actor, params.id, body),
  )
  route(app, endpoints.unmuteNode, ({ context, actor, params }) => muteNode(context, actor, params.id, null))
  route(app, endpoints.downloadNode, async ({ context, actor, params, query, reply }) => {
    const { filename, text } = await getNodeFile(context, actor, params.id, query.replace === 'true')
    return reply
      .type('text/plain; charset=utf-8')
      .header('content-disposition', `attachment; filename="${filename}"`)
      .send(text)
  })
  route(app, endpoints.streamNodes, streamNodes)
}

/** With `id` one node, else the rows of a list. @throws NotFoundError */
async function streamNodes(call: Call<typeof endpoints.streamNodes>): Promise<void> {
  const { id, token: _token, ...query } = call.query
  const { context } = call
  if (id === undefined) return followTopic(context, openStream(call), nodeListTopic(context, query))
  await getNode(context, id)
  followTopic(context, openStream(call), nodeTopic(context, id))
}

function followTopic(context: Context, stream: EventStream, topic: Topic): void {
  const following = context.feeds.follow(topic, {
    get isBusy() {
      return stream.isBusy
    },
    send: (json) => stream.send({ data: json }),
    end: () => stream.close(),
  })
  stream.onDrain(() => following.resume())
  stream.onClose(() => following.stop())
}

/** The rows of a page of nodes. */
function nodeListTopic(context: Context, query: NodeQuery): Topic {
  return {
    key: `nodes ${JSON.stringify([query, context.access.reach])}`,
    concerns: (hint) => hint.kind === 'figures' || hint.kind === 'changed',
    async compute() {
      const list = await listNodes(context, query)
      return JSON.stringify(Array.isArray(list) ? list : list.data)
    },
  }
}

/** One node, until it is deleted. */
function nodeTopic(context: Context, id: number): Topic {
  return {
    key: `node ${id} ${JSON.stringify(context.access.reach)}`,
    concerns: (hint) =>
      (hint.kind === 'figures' && hint.nodes.includes(id)) ||
      (hint.kind === 'changed' && touches(hint.touched, id)),
    compute: async () => {
      try {
        return JSON.stringify(await getNode(context, id))
      } catch (error) {
        if (error instanceof NotFoundError) return undefined
        throw error
      }
    },
  }
}

/** Whether a node's row may have changed, which includes its number of services. */
function touches({ nodes = [], services = [], tunnelEnds }: Touched, id: number): boolean {
  return tunnelEnds === true || nodes.includes(id) || services.some(({ nodeId }) => nodeId === id)
}
