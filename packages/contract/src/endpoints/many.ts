import * as z from 'zod/mini'
import { idText } from '../fields.ts'
import { ManyDomains, ManyNodes, ManyResult, ManyServices, ManyTokens } from '../services/many.ts'
import { type Endpoint, edit } from './endpoint.ts'

/**
 * The same done to many records: one change for each request. What cannot be done to some is done to the others. The
 * console loads these when a row is ticked.
 */
export const many = {
  changeServices: {
    method: 'POST',
    path: '/api/services/many',
    noun: 'Service',
    ...edit,
    body: ManyServices,
    answer: ManyResult,
  },
  changeNodes: {
    method: 'POST',
    path: '/api/nodes/many',
    noun: 'Node',
    ...edit,
    body: ManyNodes,
    answer: ManyResult,
  },
  changeDomains: {
    method: 'POST',
    path: '/api/domains/many',
    noun: 'Domain',
    ...edit,
    body: ManyDomains,
    answer: ManyResult,
  },
  changeTokens: {
    method: 'POST',
    path: '/api/nodes/:nodeId/pats/many',
    noun: 'Token',
    ...edit,
    params: z.object({ nodeId: idText }),
    body: ManyTokens,
    answer: ManyResult,
  },
} as const satisfies Record<string, Endpoint>
