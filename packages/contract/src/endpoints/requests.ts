import {
  RequestBatch,
  RequestExportQuery,
  RequestPage,
  RequestQuery,
  RequestStreamQuery,
} from '../requests/query.ts'
import { type Endpoint, look, watch } from './endpoint.ts'

/** What edges keep of requests and connections. */
export const requests = {
  listRequests: {
    method: 'GET',
    path: '/api/requests',
    noun: 'Service',
    ...look,
    query: RequestQuery,
    answer: RequestPage,
    isMixed: true,
  },
  streamRequests: {
    method: 'GET',
    path: '/api/requests/stream',
    noun: 'Service',
    ...watch,
    query: RequestStreamQuery,
    events: { message: RequestBatch },
  },
  exportRequests: {
    method: 'GET',
    path: '/api/requests/export',
    noun: 'Service',
    ...watch,
    query: RequestExportQuery,
  },
} as const satisfies Record<string, Endpoint>
