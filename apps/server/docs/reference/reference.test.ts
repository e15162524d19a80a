import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Endpoint } from '@postern/contract/endpoints/endpoint'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { expect, test } from 'vitest'
import { readDocs } from '../library.ts'
import { slugOf } from '../sections.ts'
import type { OpenApi } from './openapi.ts'
import { withReference } from './reference.ts'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const page = readDocs(ROOT).pages.get('api')
const html = page?.html ?? ''

const detailsOf = (name: string) =>
  html.split(`<span id="${slugOf(name)}"></span>`)[1]?.split('</details>')[0] ?? ''

test('every endpoint of the contract is there, with its row leading to it', () => {
  const names = Object.values<Endpoint>(endpoints).map(({ method, path }) => `${method} ${path}`)
  expect(names.filter((name) => detailsOf(name) === '')).toEqual([])
  const rows = names.filter((name) => html.includes(`<a href="#${slugOf(name)}"><code>${name}</code></a>`))
  expect(rows.length).toBeGreaterThan(100)
})

test('it says who may call, with what, and what comes back', () => {
  const made = detailsOf('POST /api/nodes')
  expect(made).toContain(
    'Needs an API token or a session of an administrator or an editor who is not limited to some nodes and domains.',
  )
  expect(made).toContain(
    '<td data-label="Field"><code>keepalive</code></td><td data-label="Kind">integer</td><td data-label="Notes">may be left out, up to 65535, by default <code>25</code></td>',
  )
  expect(made).toContain('<strong>Answer 201:</strong> <a href="#schema-creatednode">CreatedNode</a>')
  expect(detailsOf('GET /api/nodes')).toContain('<code>search</code>')
  expect(detailsOf('GET /api/nodes')).toContain('in the query, may be left out')
  expect(detailsOf('GET /api/health')).toContain('Needs no credential.')
  expect(detailsOf('GET /api/tokens')).toContain('Needs a session.')
  expect(detailsOf('GET /api/nodes/stream')).toContain('<strong>Events:</strong> <code>message</code>:')
})

test('a search finds endpoints by their words, and the index stays small', () => {
  const found = page?.sections.filter(({ title }) => /^[A-Z]+ \/api/.test(title)) ?? []
  expect(found.find(({ title }) => title === 'POST /api/nodes')?.text).toMatch(/create node/)
  expect(JSON.stringify(found).length / found.length).toBeLessThan(250)
})

test('no text of the document becomes HTML', () => {
  const document: OpenApi = JSON.parse(readFileSync(`${ROOT}/docs/openapi.json`, 'utf8'))
  const [operation] = Object.values(document.paths['/api/nodes'] ?? {})
  if (!operation) throw new Error('there is no endpoint')
  const evil = '<img src=x onerror=x()>'
  const schema = { properties: { [evil]: { enum: [evil], default: evil } } }
  const paths = { [evil]: { [evil]: { ...operation, summary: evil, tags: [evil], parameters: [] } } }
  const plain = { title: '', summary: '', html: '', sections: [] }
  const made = withReference(plain, { paths, components: { schemas: { [evil]: schema } } }).html
  expect(made).toContain('&#60;img')
  expect(made).not.toContain('<img')
})
