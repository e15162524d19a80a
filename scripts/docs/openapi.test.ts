import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Endpoint } from '@postern/contract/endpoints/endpoint'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, it, test } from 'vitest'
import { makeOpenApi, OPENAPI_FILE } from '../lib/openapi/document.ts'

const ROOT = join(import.meta.dirname, '../..')
const TEXT = readFileSync(join(ROOT, OPENAPI_FILE), 'utf8')

interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object> }
}
interface Operation {
  operationId: string
  summary?: string
  security: Record<string, unknown>[]
  requestBody?: { content: { 'application/json': { schema: Field } } }
  responses: Record<string, unknown>
}
interface Field {
  required?: string[]
  properties?: Record<string, { default?: unknown }>
  $ref?: string
}

const kept: Document = JSON.parse(TEXT)
const operations = Object.entries(kept.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)
const find = (id: keyof typeof endpoints) =>
  operations.find(({ operation }) => operation.operationId === id)?.operation

test('the document is what the contract and docs/api.md say now: else run npm run openapi', async () => {
  expect(`${JSON.stringify(await makeOpenApi(ROOT), null, 1)}\n`).toBe(TEXT)
})

test('it has each endpoint once, with a summary', () => {
  const told = operations.map(
    ({ path, method, operation }) => `${operation.operationId}: ${method.toUpperCase()} ${path}`,
  )
  const real = Object.entries<Endpoint>(endpoints).map(
    ([name, { method, path }]) => `${name}: ${method} ${path.replace(/:(\w+)/g, '{$1}')}`,
  )
  expect(told.sort()).toEqual(real.sort())
  expect(operations.filter(({ operation }) => !operation.summary)).toEqual([])
})

test('it says which credentials open what', () => {
  const opened = (id: keyof typeof endpoints) => find(id)?.security.flatMap((each) => Object.keys(each))
  expect(opened('login')).toEqual([])
  expect(opened('listNodes')).toEqual(['apiToken', 'session'])
  expect(opened('listApiTokens')).toEqual(['session'])
  expect(opened('streamNodes')).toEqual(['apiToken', 'session', 'ticket'])
  expect(opened('config')).toEqual(['apiToken', 'session', 'nodeToken'])
  expect(opened('edgeState')).toEqual(['edgeToken'])
})

test('a creation has the defaults of the form, and a patch needs no field and has no default', () => {
  const schemaOf = (id: keyof typeof endpoints): Field => {
    const schema = find(id)?.requestBody?.content['application/json'].schema ?? {}
    const [, name] = /([^/]+)$/.exec(schema.$ref ?? '') ?? []
    return name ? (kept.components.schemas[name] as Field) : schema
  }
  const [made, changed] = [schemaOf('createNode'), schemaOf('updateNode')]
  expect(made.required).toEqual(['name'])
  expect(made.properties?.keepalive).toMatchObject({ type: 'integer', default: 25 })
  expect(changed.required).toBeUndefined()
  expect(changed.properties?.keepalive).toEqual({ type: 'integer', minimum: 0, maximum: 65535 })
  expect(changed.properties?.updated_at).toEqual({ type: 'string' })
})

describe('its schemas', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  beforeAll(() => {
    ajv.addSchema(kept, 'openapi')
  })
  const refs = [...new Set(TEXT.match(/"#\/components\/[^"]+"/g))].map((text) => text.slice(1, -1))

  it.each(refs.filter((ref) => ref.includes('/schemas/')))(
    '%s is JSON Schema, and all it refers to exists',
    (ref) => {
      expect(ajv.getSchema(`openapi${ref}`)).toBeTypeOf('function')
    },
  )

  it('are all used', () => {
    const used = new Set(refs.map((ref) => ref.split('/').at(-1)))
    expect(Object.keys(kept.components.schemas).filter((name) => !used.has(name))).toEqual([])
  })
})
