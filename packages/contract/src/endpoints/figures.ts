import * as z from 'zod/mini'
import { byId, idText } from '../fields.ts'
import { Figures, FiguresQuery, Traffic, TrafficQuery } from '../figures.ts'
import { ServiceType } from '../services/services.ts'
import { type Endpoint, look } from './endpoint.ts'

const serviceOfType = z.object({ type: ServiceType, id: idText })

const chart = { method: 'GET', ...look, query: FiguresQuery, answer: Figures } as const
/** Not below their records: these change all the time, and figures once a minute. */
const rows = { method: 'GET', ...look, query: TrafficQuery, answer: Traffic } as const

/** What was carried, and how it was answered: the lines of charts, and the small ones in the rows of lists. */
export const figures = {
  serviceFigures: {
    path: '/api/services/:type/:id/figures',
    noun: 'Service',
    params: serviceOfType,
    ...chart,
  },
  nodeFigures: { path: '/api/nodes/:id/figures', noun: 'Node', params: byId, ...chart },
  domainFigures: { path: '/api/domains/:id/figures', noun: 'Domain', params: byId, ...chart },
  edgeFigures: { path: '/api/edges/:id/figures', noun: 'Edge', params: byId, ...chart, isWhole: true },
  /** Of the whole installation. */
  allFigures: { path: '/api/figures', noun: 'Server', ...chart },
  serviceTraffic: { path: '/api/figures/services', noun: 'Service', ...rows },
  nodeTraffic: { path: '/api/figures/nodes', noun: 'Node', ...rows },
  domainTraffic: { path: '/api/figures/domains', noun: 'Domain', ...rows },
  edgeTraffic: { path: '/api/figures/edges', noun: 'Edge', ...rows, isWhole: true },
} as const satisfies Record<string, Endpoint>
