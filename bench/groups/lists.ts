import { costMs } from '@postern/testkit/time'
import type { Measured } from '../figures.ts'
import { compareCosts, median, slowest } from '../measure.ts'
import type { Effort } from '../sizes.ts'
import { type FullServer, type FullServers, mustGet } from './full-servers.ts'

/** The lists that a person opens: the same page of a long and of a short list. */
const PAGES = {
  'nodes: a page': '/api/nodes?limit=10&page=2',
  'nodes: a page by name': '/api/nodes?limit=10&page=2&orderBy=name,asc',
  'nodes: a page by traffic': '/api/nodes?limit=10&page=2&orderBy=transferRx,desc',
  'nodes: a search': '/api/nodes?limit=10&search=node%2099',
  'services: a page': '/api/services/http?limit=10&page=2',
  'services: a page by name': '/api/services/http?limit=10&page=2&orderBy=name,asc',
  'services: a search': '/api/services/http?limit=10&search=ice%2099',
  'services: those of a domain': '/api/services/http?limit=10&domain=s7.example.com',
  'domains: a page': '/api/domains?limit=10&page=2',
  'domains: a search': '/api/domains?limit=10&search=s99',
} as const

/** All rows in one answer. */
const WHOLE = {
  'nodes: all': '/api/nodes',
  'services: all': '/api/services/http',
  'domains: all': '/api/domains',
} as const

/** Pages that may never be slow. */
const STEADY = [
  'nodes: a page',
  'nodes: a page by traffic',
  'services: a page',
  'services: a search',
] as const

/** How often each is done where the slowest hundredth counts. */
const MANY = 200

export async function measureLists(servers: FullServers, { rounds }: Effort): Promise<Measured[]> {
  const measured: Measured[] = []
  const measure = async (name: string, path: string, times: number) => {
    const sides = await compareCosts(times, {
      heavy: { run: () => mustGet(servers.heavy, path) },
      light: { run: () => mustGet(servers.light, path) },
    })
    measured.push({ name, unit: 'ms', ...sides })
  }
  for (const [name, path] of Object.entries(PAGES)) await measure(name, path, rounds)
  for (const [name, path] of Object.entries(WHOLE)) await measure(name, path, Math.ceil(rounds / 6))
  for (const name of STEADY) {
    const sides = await repeat(() => mustGet(servers.heavy, PAGES[name]))
    measured.push({ name: `${name}, the slowest`, unit: 'ms', ...sides })
  }
  const created = await compareCosts(rounds, {
    heavy: { run: () => createNode(servers.heavy) },
    light: { run: () => createNode(servers.light) },
  })
  return [
    ...measured,
    { name: 'nodes: a new one', unit: 'ms', ...created },
    { name: 'nodes: a new one, the slowest', unit: 'ms', ...(await repeat(() => createNode(servers.heavy))) },
  ]
}

/**
 * Runs them one after the other.
 * @returns the costs of the slowest hundredth and of the median
 */
async function repeat(work: () => Promise<unknown>): Promise<{ heavy: number; light: number }> {
  const costs: number[] = []
  for (let count = 0; count < MANY; count++) costs.push(await costMs(work))
  return { heavy: slowest(costs), light: median(costs) }
}

async function createNode({ client }: FullServer): Promise<void> {
  const answer = await client.post('/api/nodes', { name: 'new' })
  if (answer.statusCode !== 201) throw new Error(`no node was made: ${answer.statusCode} ${answer.body}`)
}
