import { Edge } from '../edge/edge.ts'
import { AddedEdge, EdgeForm, EdgeInstaller, JoinToken } from '../edge/join.ts'
import { byId } from '../fields.ts'
import { administer, deleted, type Endpoint, letIn, managePeople, nothing } from './endpoint.ts'

/** Edges on machines of their own. The list of all edges is in overview.ts. */
export const edges = {
  /** It takes part once a machine has joined with the token of the answer. */
  addEdge: {
    method: 'POST',
    path: '/api/edges',
    noun: 'Edge',
    ...letIn,
    body: EdgeForm,
    answer: AddedEdge,
    status: 201,
  },
  editEdge: {
    method: 'PATCH',
    path: '/api/edges/:id',
    noun: 'Edge',
    ...letIn,
    params: byId,
    body: EdgeForm,
    answer: Edge,
  },
  /** Its health address says that visitors should go elsewhere; all else goes on. */
  drainEdge: {
    method: 'PATCH',
    path: '/api/edges/:id/drain',
    noun: 'Edge',
    ...administer,
    params: byId,
    body: nothing,
    answer: Edge,
  },
  undrainEdge: {
    method: 'PATCH',
    path: '/api/edges/:id/undrain',
    noun: 'Edge',
    ...administer,
    params: byId,
    body: nothing,
    answer: Edge,
  },
  /** The first answer takes seconds: the server packs the edge's program. */
  getEdgeInstaller: {
    method: 'GET',
    path: '/api/edges/installer',
    noun: 'Edge',
    ...administer,
    answer: EdgeInstaller,
  },
  /** Instead of any before. The machine that joins with it takes the edge's place, with its number and tunnel key. */
  makeJoinToken: {
    method: 'POST',
    path: '/api/edges/:id/join-token',
    noun: 'Edge',
    ...letIn,
    params: byId,
    body: nothing,
    answer: JoinToken,
    status: 201,
  },
  /** Its certificate is refused at once. The edge beside the server stays: 409 `system`. */
  removeEdge: {
    method: 'DELETE',
    path: '/api/edges/:id',
    noun: 'Edge',
    ...managePeople,
    params: byId,
    answer: deleted,
  },
} as const satisfies Record<string, Endpoint>
