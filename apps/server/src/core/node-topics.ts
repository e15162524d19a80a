import type { NodeQuery } from '@postern/contract/nodes'
import type { Hint } from '../changes/live.ts'
import type { Context } from '../context.ts'
import { NotFoundError } from './errors.ts'
import type { Topic } from './feeds.ts'
import { listNodes } from './node-list.ts'
import { getNode } from './nodes.ts'

/** The rows of a page of nodes. */
export function nodeListTopic(context: Context, query: NodeQuery): Topic {
  return {
    key: `nodes ${JSON.stringify(query)}`,
    concerns: (hint) => hint.kind === 'figures' || hint.kind === 'changed',
    async compute() {
      const list = await listNodes(context, query)
      return JSON.stringify(Array.isArray(list) ? list : list.data)
    },
  }
}

/** One node, until it is deleted. */
export function nodeTopic(context: Context, id: number): Topic {
  return {
    key: `node ${id}`,
    concerns: (hint) =>
      (hint.kind === 'figures' && hint.nodes.includes(id)) ||
      (hint.kind === 'changed' && (hint.touched.nodes?.includes(id) || touchesServices(hint, id))),
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

/** Whether a node's services, or what an edge says of them, may be other than before. */
export function touchesServices(hint: Hint, nodeId: number): boolean {
  if (hint.kind === 'reported') return hint.services.some((service) => service.nodeId === nodeId)
  return (
    hint.kind === 'changed' && hint.touched.services?.some((service) => service.nodeId === nodeId) === true
  )
}
