import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AuthKind, Endpoint } from '@postern/contract/endpoints/endpoint'
import { nothing } from '@postern/contract/endpoints/endpoint'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { ErrorBody } from '@postern/contract/errors'
import type * as z from 'zod/mini'
import { type JsonSchema, openSchemaBook, type SchemaBook } from './schemas.ts'
import { readSummaries, type Told } from './summaries.ts'

/** Where the document is kept, from the root of the repository. */
export const OPENAPI_FILE = 'docs/openapi.json'

const SECURITY_SCHEMES = {
  apiToken: bearer('An API token (`pta_…`), which a person makes for a program'),
  session: bearer('A session (`pts_…`), from `POST /api/auth/login`'),
  ticket: {
    type: 'apiKey',
    in: 'query',
    name: 'token',
    description: 'A ticket (`ptt_…`), from `POST /api/auth/ticket`, for a minute',
  },
  nodeToken: bearer('An access token of a node (`ptn_…`)'),
  edgeToken: bearer("The edge's token, at the server's socket"),
}

type Scheme = keyof typeof SECURITY_SCHEMES

const OPENED_BY: Readonly<Record<AuthKind, readonly Scheme[]>> = {
  none: [],
  session: ['apiToken', 'session'],
  download: ['apiToken', 'session'],
  stream: ['apiToken', 'session', 'ticket'],
  'session or node': ['apiToken', 'session', 'nodeToken'],
  node: ['nodeToken'],
  edge: ['edgeToken'],
}

/** The API as an OpenAPI 3.1 document, made of the contract and of what docs/api.md says about each endpoint. */
export async function makeOpenApi(root: string): Promise<Record<string, unknown>> {
  const read = (file: string) => readFileSync(join(root, file), 'utf8')
  const summaries = readSummaries(read('docs/api.md'))
  const { version }: { version: string } = JSON.parse(read('package.json'))
  const book = await openSchemaBook(root)
  const error = book.write(ErrorBody, 'output')
  const paths: Record<string, Record<string, unknown>> = {}
  const all = Object.entries<Endpoint>(endpoints)
  for (const [, endpoint] of all) answerOf(book, endpoint)
  const order = [...summaries.keys()]
  for (const [name, endpoint] of all.toSorted(([, a], [, b]) => placeIn(order, a) - placeIn(order, b))) {
    const path = endpoint.path.replace(/:(\w+)/g, '{$1}')
    const operation = makeOperation(book, name, endpoint, summaries.get(keyOf(endpoint)))
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Postern',
      version,
      description: 'The API of the console. The guide to it is at `/docs/api` of each server.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: "The console's address" }],
    tags: [...new Set([...summaries.values()].map(({ section }) => section))].map((name) => ({ name })),
    paths,
    components: {
      schemas: usedIn([paths, error], book.components),
      responses: {
        Error: {
          description: 'Why not, in words and as a code',
          content: { 'application/json': { schema: error } },
        },
      },
      securitySchemes: SECURITY_SCHEMES,
    },
  }
}

const keyOf = ({ method, path }: Endpoint) => `${method} ${path}`

/** What the page does not have comes last. */
function placeIn(order: readonly string[], endpoint: Endpoint): number {
  const at = order.indexOf(keyOf(endpoint))
  return at < 0 ? order.length : at
}

function bearer(description: string) {
  return { type: 'http', scheme: 'bearer', description } as const
}

function makeOperation(
  book: SchemaBook,
  name: string,
  endpoint: Endpoint,
  told: Told | undefined,
): JsonSchema {
  const { auth, roles, isWhole, isSessionOnly, body, status = 200 } = endpoint
  const schemes = OPENED_BY[auth].filter((scheme) => !isSessionOnly || scheme === 'session')
  const parameters = [...parametersOf(book, endpoint, 'path'), ...parametersOf(book, endpoint, 'query')]
  return {
    operationId: name,
    ...(told && { summary: told.does, tags: [told.section] }),
    security: schemes.map((scheme) => ({ [scheme]: [] })),
    ...(roles !== undefined && { 'x-roles': roles === 'any' ? ['admin', 'editor', 'viewer'] : roles }),
    ...(isWhole && { 'x-whole-installation': true }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && body !== nothing && { requestBody: bodyOf(book, endpoint, body) }),
    responses: {
      [endpoint.path.endsWith('/socket') ? 101 : status]: answerOf(book, endpoint),
      default: { $ref: '#/components/responses/Error' },
    },
  }
}

interface ObjectSchema {
  properties?: Record<string, JsonSchema>
  required?: string[]
  [key: string]: unknown
}

function parametersOf(book: SchemaBook, endpoint: Endpoint, place: 'path' | 'query'): JsonSchema[] {
  const schema = place === 'path' ? endpoint.params : endpoint.query
  if (!schema) return []
  const { properties = {}, required = [] } = resolve(book, book.write(schema, 'input'))
  // The ticket is told as a credential.
  const names = Object.keys(properties).filter((name) => place === 'path' || name !== 'token')
  return names.map((name) => ({
    name,
    in: place,
    ...((place === 'path' || required.includes(name)) && { required: true }),
    schema: properties[name],
  }))
}

/** A patch has the fields that it changes, and may say which state of the record it was made from. */
function bodyOf(book: SchemaBook, { method }: Endpoint, body: z.ZodMiniObject): JsonSchema {
  const content = (schema: JsonSchema) => ({ required: true, content: { 'application/json': { schema } } })
  const written = book.write(body, 'input')
  if (method !== 'PATCH') return content(written)
  const { required: _, properties = {}, ...rest } = resolve(book, written)
  const fields = Object.entries(properties).map(([name, { default: _, ...schema }]) => [name, schema])
  return content({ ...rest, properties: { ...Object.fromEntries(fields), updated_at: { type: 'string' } } })
}

function answerOf(book: SchemaBook, endpoint: Endpoint): JsonSchema {
  const { answer, answerToNode, events, path, auth } = endpoint
  if (events) {
    const entries = Object.entries(events).map(([event, schema]) => [event, book.write(schema, 'output')])
    return {
      description: 'Server-sent events, each with data in JSON',
      content: { 'text/event-stream': { schema: { type: 'string' } } },
      'x-events': Object.fromEntries(entries),
    }
  }
  if (path.endsWith('/socket')) return { description: 'A WebSocket' }
  if (!answer) return { description: auth === 'stream' ? 'A stream' : 'A file' }
  const people = book.write(answer, 'output')
  const schema = answerToNode ? { anyOf: [people, book.write(answerToNode, 'output')] } : people
  return { description: 'Done', content: { 'application/json': { schema } } }
}

function resolve(book: SchemaBook, schema: JsonSchema): ObjectSchema {
  const [, name] = /^#\/components\/schemas\/(.*)$/.exec(String(schema.$ref ?? '')) ?? []
  return name === undefined ? schema : resolve(book, book.components[name] ?? {})
}

/** Without those of which only the fields were written where they are sent: as parameters, or in a patch. */
function usedIn(root: unknown, all: Readonly<Record<string, JsonSchema>>): Record<string, JsonSchema> {
  const used = new Set<string>()
  const follow = (value: unknown) => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name)) continue
      used.add(name)
      follow(all[name])
    }
  }
  follow(root)
  return Object.fromEntries(Object.entries(all).filter(([name]) => used.has(name)))
}
