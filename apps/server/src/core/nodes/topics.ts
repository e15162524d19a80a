import type { NodeQuery } from '@postern/contract/nodes'
import type { Touched } from '../../changes/live.ts'
import type { Context } from '../../context.ts'
import { NotFoundError } from '../errors.ts'
import type { Topic } from '../streams/feeds.ts'
import { listNodes } from './list.ts'
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

/** Whether a node's row may be another one: it says how many services it has. */
function touches({ nodes = [], services = [] }: Touched, id: number): boolean {
  return nodes.includes(id) || services.some(({ nodeId }) => nodeId === id)
}
