import { EdgeList } from '../edge.ts'
import { type Endpoint, look } from '../endpoint.ts'
import { AttentionList, AttentionQuery, Overview, PublicHostCheck } from '../overview.ts'

/** What the home page and the mark of the data plane show. */
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
  /** Asks DNS, and the addresses that it names. */
  checkPublicHost: {
    method: 'GET',
    path: '/api/overview/public-host',
    noun: 'Server',
    ...look,
    answer: PublicHostCheck,
  },
  listEdges: { method: 'GET', path: '/api/edges', noun: 'Edge', ...look, answer: EdgeList },
} as const satisfies Record<string, Endpoint>
