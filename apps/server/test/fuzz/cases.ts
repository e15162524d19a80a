import type { Endpoint } from '@postern/contract/endpoints/endpoint'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import * as z from 'zod/mini'
import type { Random } from './random.ts'
import { HOSTILE, HOSTILE_TEXTS, type Hostile } from './values.ts'

export type EndpointName = keyof typeof endpoints

/** Where in a request the hostile value goes; `path` leads to a field inside the body. */
export type Spot =
  | { place: 'body'; path: readonly string[] }
  | { place: 'query' | 'params'; path: readonly [string] }

/** One request, which is as it should be but for one field. */
export interface Case {
  endpoint: EndpointName
  spot: Spot
  hostile: Hostile
}

/** They end what all others need: the session, and the second factor that nobody has. */
const LEFT_OUT: ReadonlySet<EndpointName> = new Set(['logout'])

/** Whatever people may call. */
export const FUZZED = Object.entries<Endpoint>(endpoints).flatMap(([key, endpoint]) => {
  // The keys of the object above.
  const name = key as EndpointName
  const isForPeople = endpoint.roles !== undefined || endpoint.path.startsWith('/api/auth/')
  return isForPeople && !LEFT_OUT.has(name) ? [{ name, endpoint }] : []
})

/** Each field of each endpoint with each value. */
export function listCases(bodyOf: (name: EndpointName) => Record<string, unknown>): Case[] {
  return FUZZED.flatMap(({ name, endpoint }) =>
    listSpots(endpoint, bodyOf(name)).flatMap((spot) =>
      (spot.place === 'body' ? HOSTILE : HOSTILE_TEXTS).map((hostile) => ({ endpoint: name, spot, hostile })),
    ),
  )
}

/** So many for each field, at least, in an order of chance. */
export function sample(cases: readonly Case[], perField: number, random: Random): Case[] {
  const taken = new Map<string, number>()
  return random.shuffle(cases).filter(({ endpoint, spot }) => {
    const key = `${endpoint} ${spot.place} ${spot.path.join('.')}`
    const count = taken.get(key) ?? 0
    taken.set(key, count + 1)
    return count < perField
  })
}

function listSpots({ params, query, body }: Endpoint, base: Record<string, unknown>): Spot[] {
  const inBody = body ? [...keysOf(body), 'unknownField', '__proto__', 'id', 'updated_at'] : []
  const paths = [...inBody.map((key) => [key]), ...pathsIn(base).filter((path) => path.length > 1)]
  return [
    ...paths.map((path) => ({ place: 'body' as const, path })),
    ...[...keysOf(query), 'unknownKey'].map((key) => ({ place: 'query' as const, path: [key] as const })),
    ...keysOf(params).map((key) => ({ place: 'params' as const, path: [key] as const })),
  ]
}

function keysOf(schema: z.ZodMiniType | undefined): string[] {
  return schema instanceof z.ZodMiniObject ? Object.keys(schema.shape) : []
}

function pathsIn(value: unknown, at: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [[...at]]
  const inside = Object.entries(value).flatMap(([key, each]) => pathsIn(each, [...at, key]))
  return at.length === 0 ? inside : [[...at], ...inside]
}

/** A copy of the body with the value at its place. */
export function placeIn(body: unknown, path: readonly string[], value: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return value
  if (Array.isArray(body)) {
    const next = placeIn(body[Number(key)], rest, value)
    return body.flatMap((each, at) => (String(at) !== key ? [each] : next === undefined ? [] : [next]))
  }
  const fields = typeof body === 'object' && body !== null ? Object.entries(body) : []
  const next = placeIn(fields.find(([name]) => name === key)?.[1], rest, value)
  const others = fields.filter(([name]) => name !== key)
  // Also for `__proto__`, which a plain assignment would not store.
  return Object.fromEntries(next === undefined ? others : [...others, [key, next]])
}
