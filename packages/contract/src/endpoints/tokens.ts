import * as z from 'zod/mini'
import { deleted, type Endpoint, look, nothing, write } from '../endpoint.ts'
import { idText } from '../fields.ts'
import { CreatedPat, Pat, PatEnd, PatForm, PatList, PatQuery } from '../pats.ts'

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
    ...write,
    params: ofNode,
    body: PatForm,
    answer: CreatedPat,
    status: 201,
  },
  revokeToken: {
    method: 'PATCH',
    path: '/api/nodes/:nodeId/pats/:id/revoke',
    noun: 'Token',
    ...write,
    params: one,
    query: PatEnd,
    body: nothing,
    answer: Pat,
  },
  deleteToken: {
    method: 'DELETE',
    path: '/api/nodes/:nodeId/pats/:id',
    noun: 'Token',
    ...write,
    params: one,
    query: PatEnd,
    answer: deleted,
  },
} as const satisfies Record<string, Endpoint>
