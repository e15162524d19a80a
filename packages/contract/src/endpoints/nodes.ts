import * as z from 'zod/mini'
import { MuteForm } from '../alerts/mute.ts'
import { byId } from '../fields.ts'
import { CreatedNode, Node, NodeForm, NodeList, NodeQuery, NodeStreamQuery } from '../nodes.ts'
import { deleted, EDITORS, type Endpoint, edit, look, nothing, watch } from './endpoint.ts'

/** Without `replace`, a node whose agent has made its own key is refused with the code `agent_key`. */
const downloadQuery = z.strictObject({
  token: z.optional(z.string()),
  replace: z.optional(z.literal('true')),
})

/** Nodes. */
export const nodes = {
  listNodes: { method: 'GET', path: '/api/nodes', noun: 'Node', ...look, query: NodeQuery, answer: NodeList },
  createNode: {
    method: 'POST',
    path: '/api/nodes',
    noun: 'Node',
    ...edit,
    isWhole: true,
    body: NodeForm,
    answer: CreatedNode,
    status: 201,
  },
  getNode: { method: 'GET', path: '/api/nodes/:id', noun: 'Node', ...look, params: byId, answer: Node },
  updateNode: {
    method: 'PATCH',
    path: '/api/nodes/:id',
    noun: 'Node',
    ...edit,
    params: byId,
    body: NodeForm,
    answer: Node,
  },
  deleteNode: {
    method: 'DELETE',
    path: '/api/nodes/:id',
    noun: 'Node',
    ...edit,
    params: byId,
    answer: deleted,
  },
  enableNode: {
    method: 'PATCH',
    path: '/api/nodes/:id/enable',
    noun: 'Node',
    ...edit,
    params: byId,
    body: nothing,
    answer: Node,
  },
  disableNode: {
    method: 'PATCH',
    path: '/api/nodes/:id/disable',
    noun: 'Node',
    ...edit,
    params: byId,
    body: nothing,
    answer: Node,
  },
  muteNode: {
    method: 'PATCH',
    path: '/api/nodes/:id/mute',
    noun: 'Node',
    ...edit,
    params: byId,
    body: MuteForm,
    answer: Node,
  },
  unmuteNode: {
    method: 'PATCH',
    path: '/api/nodes/:id/unmute',
    noun: 'Node',
    ...edit,
    params: byId,
    body: nothing,
    answer: Node,
  },
  downloadNode: {
    method: 'GET',
    path: '/api/nodes/:id/download',
    noun: 'Node',
    auth: 'download',
    roles: EDITORS,
    params: byId,
    query: downloadQuery,
  },
  streamNodes: {
    method: 'GET',
    path: '/api/nodes/stream',
    noun: 'Node',
    ...watch,
    query: NodeStreamQuery,
    events: { message: z.union([Node, z.array(Node)]) },
  },
} as const satisfies Record<string, Endpoint>
