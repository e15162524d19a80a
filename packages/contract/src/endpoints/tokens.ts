import * as z from 'zod/mini'
import { idText } from '../fields.ts'
import { CreatedPat, Pat, PatEnd, PatForm, PatList, PatQuery } from '../pats.ts'
import { deleted, type Endpoint, edit, look, nothing } from './endpoint.ts'

const ofNode = z.object({ nodeId: idText })
const one = z.object({ nodeId: idText, id: idText })

/** Access tokens of nodes; the local node has none. */
export const tokens = {
  listTokens: {
    method: 'GET',
    path: '/api/nodes/:nodeId/pats',
    noun: 'Token',
    ...look,
    params: ofNode,
    query: PatQuery,
    answer: PatList,
  },
  createToken: {
    method: 'POST',
    path: '/api/nodes/:nodeId/pats',
    noun: 'Token',
    ...edit,
    params: ofNode,
    body: PatForm,
    answer: CreatedPat,
    status: 201,
  },
  /**
   * A new token with the name and the lifetime of the old one, which its first use revokes.
   * 409 when that one has ended.
   */
  rotateToken: {
    method: 'POST',
    path: '/api/nodes/:nodeId/pats/:id/rotate',
    noun: 'Token',
    ...edit,
    params: one,
    body: nothing,
    answer: CreatedPat,
    status: 201,
  },
  revokeToken: {
    method: 'PATCH',
    path: '/api/nodes/:nodeId/pats/:id/revoke',
    noun: 'Token',
    ...edit,
    params: one,
    query: PatEnd,
    body: nothing,
    answer: Pat,
  },
  deleteToken: {
    method: 'DELETE',
    path: '/api/nodes/:nodeId/pats/:id',
    noun: 'Token',
    ...edit,
    params: one,
    query: PatEnd,
    answer: deleted,
  },
} as const satisfies Record<string, Endpoint>
