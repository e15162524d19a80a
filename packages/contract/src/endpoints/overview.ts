import { EdgeList } from '../edge/edge.ts'
import { AttentionList, AttentionQuery, Overview, PublicHostCheck } from '../overview.ts'
import { type Endpoint, look } from './endpoint.ts'

/** The data of the home page and of the data plane's mark. */
export const overview = {
  getOverview: { method: 'GET', path: '/api/overview', noun: 'Server', ...look, answer: Overview },
  /** Everything that needs a person. */
  listAttention: {
    method: 'GET',
    path: '/api/overview/attention',
    noun: 'Server',
    ...look,
    query: AttentionQuery,
    answer: AttentionList,
  },
  /** Asks DNS, and then the addresses in its answer. */
  checkPublicHost: {
    method: 'GET',
    path: '/api/overview/public-host',
    noun: 'Server',
    ...look,
    answer: PublicHostCheck,
  },
  listEdges: { method: 'GET', path: '/api/edges', noun: 'Edge', ...look, answer: EdgeList },
} as const satisfies Record<string, Endpoint>
