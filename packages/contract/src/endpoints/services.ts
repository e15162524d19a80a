import * as z from 'zod/mini'
import { MuteForm } from '../alerts/mute.ts'
import { idText } from '../fields.ts'
import { LogBatch, LogStreamQuery } from '../logs.ts'
import {
  AllServicesQuery,
  HttpService,
  HttpServiceFields,
  NodeServiceQuery,
  Service,
  ServiceList,
  ServiceQuery,
  ServiceType,
  TcpService,
  TcpServiceForm,
} from '../services/services.ts'
import { deleted, type Endpoint, edit, look, nothing, watch } from './endpoint.ts'

const ofType = z.object({ type: ServiceType })
const ofNode = z.object({ nodeId: idText })
const ofNodeAndType = z.object({ nodeId: idText, type: ServiceType })
const one = z.object({ nodeId: idText, type: ServiceType, id: idText })
const oneOfType = z.object({ nodeId: idText, id: idText })

/** Written once for services of all types; what only one type has is named after it. */
export const services = {
  /** Those of all types and nodes, but for the console itself; by name. */
  listAllServices: {
    method: 'GET',
    path: '/api/services',
    noun: 'Service',
    ...look,
    query: AllServicesQuery,
    answer: ServiceList,
  },
  listServices: {
    method: 'GET',
    path: '/api/services/:type',
    noun: 'Service',
    ...look,
    params: ofType,
    query: ServiceQuery,
    answer: ServiceList,
  },
  listNodeServices: {
    method: 'GET',
    path: '/api/services/:nodeId/:type',
    noun: 'Service',
    ...look,
    params: ofNodeAndType,
    query: NodeServiceQuery,
    answer: ServiceList,
  },
  getService: {
    method: 'GET',
    path: '/api/services/:nodeId/:type/:id',
    noun: 'Service',
    ...look,
    params: one,
    answer: Service,
  },
  enableService: {
    method: 'PATCH',
    path: '/api/services/:nodeId/:type/:id/enable',
    noun: 'Service',
    ...edit,
    params: one,
    body: nothing,
    answer: Service,
  },
  disableService: {
    method: 'PATCH',
    path: '/api/services/:nodeId/:type/:id/disable',
    noun: 'Service',
    ...edit,
    params: one,
    body: nothing,
    answer: Service,
  },
  muteService: {
    method: 'PATCH',
    path: '/api/services/:nodeId/:type/:id/mute',
    noun: 'Service',
    ...edit,
    params: one,
    body: MuteForm,
    answer: Service,
  },
  unmuteService: {
    method: 'PATCH',
    path: '/api/services/:nodeId/:type/:id/unmute',
    noun: 'Service',
    ...edit,
    params: one,
    body: nothing,
    answer: Service,
  },
  deleteService: {
    method: 'DELETE',
    path: '/api/services/:nodeId/:type/:id',
    noun: 'Service',
    ...edit,
    params: one,
    answer: deleted,
  },
  createHttpService: {
    method: 'POST',
    path: '/api/services/:nodeId/http',
    noun: 'Service',
    ...edit,
    params: ofNode,
    body: HttpServiceFields,
    answer: HttpService,
    status: 201,
  },
  updateHttpService: {
    method: 'PATCH',
    path: '/api/services/:nodeId/http/:id',
    noun: 'Service',
    ...edit,
    params: oneOfType,
    body: HttpServiceFields,
    answer: HttpService,
  },
  createTcpService: {
    method: 'POST',
    path: '/api/services/:nodeId/tcp',
    noun: 'Service',
    ...edit,
    params: ofNode,
    body: TcpServiceForm,
    answer: TcpService,
    status: 201,
  },
  updateTcpService: {
    method: 'PATCH',
    path: '/api/services/:nodeId/tcp/:id',
    noun: 'Service',
    ...edit,
    params: oneOfType,
    body: TcpServiceForm,
    answer: TcpService,
  },
  streamLogs: {
    method: 'GET',
    path: '/api/logs/stream',
    noun: 'Service',
    ...watch,
    query: LogStreamQuery,
    events: { message: LogBatch },
  },
} as const satisfies Record<string, Endpoint>
