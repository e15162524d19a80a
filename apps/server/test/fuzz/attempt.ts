import type { Endpoint } from '@postern/contract/endpoints/endpoint'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { LightMyRequestResponse } from 'fastify'
import * as z from 'zod/mini'
import type { Case, EndpointName } from './cases.ts'
import type { World } from './world.ts'

/** How an error of a program looks that nobody wrote for people. */
const RAW =
  /\bat .{0,80}\.(ts|mjs|js):\d+|SQLITE_|node:internal|(UNIQUE|FOREIGN KEY|CHECK|NOT NULL) constraint|\b(Type|Range|Syntax|Reference|Zod)Error\b|Cannot read prop/

/** A limit of the server, in words of the contract. */
const BUSY = [503]

/** Every list, and what is computed of all records. */
const READS = [
  '/api/nodes',
  '/api/nodes?limit=100&orderBy=name,desc',
  '/api/domains',
  '/api/domains/ending',
  '/api/services',
  '/api/services?limit=100&orderBy=name,desc',
  '/api/tokens',
  '/api/alerts',
  '/api/alerts/rules',
  '/api/alerts/channels',
  '/api/alerts/deliveries',
  '/api/alerts/quiet-hours',
  '/api/settings',
  '/api/overview',
  '/api/overview/attention',
  '/api/config',
  '/api/history',
  '/api/find?text=a',
]

/** What a change of such a record shows in. */
const READS_OF: Partial<Record<Endpoint['noun'], readonly string[]>> = {
  Node: ['/api/nodes', '/api/find?text=s'],
  Domain: ['/api/domains', '/api/services'],
  Service: ['/api/services', '/api/nodes'],
  Token: ['/api/tokens'],
  Channel: ['/api/alerts/channels'],
  Rule: ['/api/alerts/rules'],
}

const CREATED: Partial<Record<EndpointName, (made: { id: number; nodeId: number }) => string>> = {
  createNode: ({ id }) => `/api/nodes/${id}`,
  createDomain: ({ id }) => `/api/domains/${id}`,
  createHttpService: ({ id, nodeId }) => `/api/services/${nodeId}/http/${id}`,
  createTcpService: ({ id, nodeId }) => `/api/services/${nodeId}/tcp/${id}`,
  createToken: ({ id, nodeId }) => `/api/nodes/${nodeId}/pats/${id}`,
  createApiToken: ({ id }) => `/api/tokens/${id}`,
  createChannel: ({ id }) => `/api/alerts/channels/${id}`,
  createFigureRule: ({ id }) => `/api/alerts/rules/${id}`,
}

/** Where a record is that a form changes, so that the form accepts what the record says. */
const FORMS: Partial<Record<EndpointName, EndpointName>> = {
  createNode: 'updateNode',
  updateNode: 'updateNode',
  createDomain: 'updateDomain',
  updateDomain: 'updateDomain',
  createHttpService: 'updateHttpService',
  updateHttpService: 'updateHttpService',
  createTcpService: 'updateTcpService',
  updateTcpService: 'updateTcpService',
}

/**
 * Sends one case, and reads again whatever it may have changed.
 * @returns what is wrong, in words; undefined: nothing
 */
export async function attempt(
  world: World,
  tried: Case,
  as: 'session' | 'program',
): Promise<string | undefined> {
  const endpoint: Endpoint = endpoints[tried.endpoint]
  try {
    const answer = await world.send(tried, as)
    const wrong = judge(answer)
    if (wrong !== undefined) return wrong
    if (answer.statusCode >= 300 || endpoint.method === 'GET') return undefined
    return await readAgain(world, tried.endpoint, answer)
  } catch (error) {
    // What the check against the contract says.
    return error instanceof Error ? error.message : String(error)
  }
}

function judge({ statusCode, body }: LightMyRequestResponse): string | undefined {
  if (statusCode >= 500 && !BUSY.includes(statusCode))
    return `it answers ${statusCode}: ${body.slice(0, 300)}`
  const raw = statusCode >= 400 ? RAW.exec(body)?.[0] : undefined
  return raw === undefined ? undefined : `the answer has “${raw}”: ${body.slice(0, 300)}`
}

async function readAgain(
  world: World,
  name: EndpointName,
  answer: LightMyRequestResponse,
): Promise<string | undefined> {
  const endpoint: Endpoint = endpoints[name]
  const made: unknown = answer.json()
  for (const url of READS_OF[endpoint.noun] ?? []) {
    const wrong = await read(world, url)
    if (wrong !== undefined) return wrong
  }
  const again = await sendBack(world, name, made)
  const own = isRecord(made) ? CREATED[name]?.(made) : undefined
  if (own !== undefined) await world.remove(own)
  else if (endpoint.method !== 'POST' || endpoint.path.endsWith('/many')) await world.restore()
  return again
}

/** @returns what is wrong with an answer to a look, after whatever was accepted */
export async function readEverything(world: World): Promise<string | undefined> {
  for (const url of READS) {
    const wrong = await read(world, url)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

async function read(world: World, url: string): Promise<string | undefined> {
  const { statusCode, body } = await world.get(url)
  return statusCode === 200 ? undefined : `then ${url} answers ${statusCode}: ${body.slice(0, 300)}`
}

/** A form must accept what the record has, or nobody could change it any more. */
async function sendBack(world: World, name: EndpointName, made: unknown): Promise<string | undefined> {
  const form = FORMS[name]
  if (form === undefined || !isRecord(made)) return undefined
  const { body, path }: Endpoint = endpoints[form]
  if (!(body instanceof z.ZodMiniObject)) return undefined
  const fields = Object.entries(made).filter(([key]) => key in body.shape)
  const url = path.replace(':nodeId', String(made.nodeId)).replace(':id', String(made.id))
  const answer = await world.patch(url, Object.fromEntries(fields))
  return answer.statusCode === 422
    ? `then its own values are refused: ${answer.body.slice(0, 500)}`
    : undefined
}

function isRecord(value: unknown): value is { id: number; nodeId: number } {
  return typeof value === 'object' && value !== null && 'id' in value
}
