import { type Endpoint, look } from '../endpoint.ts'
import { Overview, PublicHostCheck } from '../overview.ts'

/** What the home page shows. */
export const overview = {
  getOverview: { method: 'GET', path: '/api/overview', noun: 'Server', ...look, answer: Overview },
  /** Asks DNS, and the addresses that it names. */
  checkPublicHost: {
    method: 'GET',
    path: '/api/overview/public-host',
    noun: 'Server',
    ...look,
    answer: PublicHostCheck,
  },
} as const satisfies Record<string, Endpoint>
