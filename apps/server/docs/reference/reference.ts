import type { DocsPage } from '../render.ts'
import { escapeHtml, type Section, slugOf } from '../sections.ts'
import type { Answer, OpenApi, Operation, Parameter, Schema } from './openapi.ts'
import { limitsOf, nameOf, renderType, spotOfSchema } from './schema-text.ts'

interface Endpoint {
  method: string
  /** Fastify's form, as in the rest of the documentation. */
  path: string
  operation: Operation
}

const CREDENTIALS: Readonly<Record<string, string>> = {
  apiToken: 'an API token',
  session: 'a session',
  ticket: 'a ticket',
  nodeToken: "a node's token",
  edgeToken: "the edge's token",
}

const ROLES: Readonly<Record<string, string>> = {
  admin: 'an administrator',
  editor: 'an editor',
  viewer: 'a viewer',
}

/**
 * The page about the API, followed by the fields of every endpoint, each closed until somebody opens it; the rows of its
 * tables lead there.
 */
export function withReference(page: DocsPage, document: OpenApi): DocsPage {
  const endpoints = listEndpoints(document)
  const groups = [...new Set(endpoints.map(({ operation }) => groupOf(operation)))]
  const rendered = groups.map((group) => {
    const own = endpoints.filter(({ operation }) => groupOf(operation) === group)
    return `<h3>${escapeHtml(group)}</h3>\n${own.map((each) => renderEndpoint(each, document)).join('\n')}`
  })
  const schemas = Object.entries(document.components.schemas).map(renderSchema)
  const html = `${linkRows(page.html, endpoints)}
<h2 id="reference"><a href="#reference">All fields</a></h2>
<p>The same as an <a href="/api/openapi.json">OpenAPI 3.1 document</a>, for programs that make clients. Answers may have more fields in later versions.</p>
${rendered.join('\n')}
<h2 id="schemas"><a href="#schemas">Schemas</a></h2>
${schemas.join('\n')}
`
  const heads: Section[] = [
    { id: 'reference', title: 'All fields', depth: 2, text: 'openapi json schema client generator' },
    { id: 'schemas', title: 'Schemas', depth: 2, text: '' },
  ]
  return { ...page, html, sections: [...page.sections, ...heads, ...endpoints.map(sectionOf)] }
}

function listEndpoints({ paths }: OpenApi): Endpoint[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: path.replace(/\{(\w+)\}/g, ':$1'),
      operation,
    })),
  )
}

const groupOf = ({ tags }: Operation) => tags?.[0] ?? 'Others'
const nameOfEndpoint = ({ method, path }: Endpoint) => `${method} ${path}`
const spotOf = (endpoint: Endpoint) => slugOf(nameOfEndpoint(endpoint))

/** What a search finds: the words about it, and not the fields, which many have in common. */
function sectionOf(endpoint: Endpoint): Section {
  const { summary = '', operationId } = endpoint.operation
  const words = operationId.replace(/([A-Z])/g, ' $1').toLowerCase()
  return { id: spotOf(endpoint), title: nameOfEndpoint(endpoint), depth: 0, text: `${summary} ${words}` }
}

function linkRows(html: string, endpoints: readonly Endpoint[]): string {
  const spots = new Map(endpoints.map((endpoint) => [escapeHtml(nameOfEndpoint(endpoint)), spotOf(endpoint)]))
  return html.replace(/<td data-label="Endpoint"><code>([^<]*)<\/code>/g, (cell, name: string) => {
    const spot = spots.get(name)
    return spot === undefined ? cell : `<td data-label="Endpoint"><a href="#${spot}"><code>${name}</code></a>`
  })
}

function renderEndpoint(endpoint: Endpoint, document: OpenApi): string {
  const { operation } = endpoint
  const { summary = '', parameters = [], requestBody, responses } = operation
  const status = Object.keys(responses).find((key) => key !== 'default') ?? '200'
  const parts = [
    `<p>${escapeHtml(callersOf(operation))}</p>`,
    renderParameters(parameters),
    renderContent('Body', fieldsOf(document, requestBody?.content['application/json'].schema)),
    renderAnswer(status, responses[status] ?? {}),
  ]
  const head = `<code>${escapeHtml(nameOfEndpoint(endpoint))}</code> ${escapeHtml(summary)}`
  return renderClosed(spotOf(endpoint), head, parts.filter(Boolean).join('\n'))
}

/** A link to a place inside opens it, and a link to the whole would not. */
function renderClosed(id: string, head: string, inside: string): string {
  return `<details><summary>${head}</summary><span id="${id}"></span>\n${inside}\n</details>`
}

function callersOf({ security, ...operation }: Operation): string {
  const names = security.flatMap((each) => Object.keys(each)).map((name) => CREDENTIALS[name] ?? name)
  const roles = operation['x-roles'] ?? []
  if (names.length === 0) return 'Needs no credential.'
  const who =
    roles.length === 0 || roles.length === 3
      ? ''
      : ` of ${joinWords(roles.map((role) => ROLES[role] ?? role))}`
  const whole = operation['x-whole-installation'] ? ' who is not limited to some nodes and domains' : ''
  const people = who === '' && whole !== '' ? ' of somebody' : who
  return `Needs ${joinWords(names)}${people}${whole}.`
}

function joinWords(words: readonly string[]): string {
  const last = words.at(-1) ?? ''
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`
}

function renderParameters(parameters: readonly Parameter[]): string {
  const rows = parameters.map(({ name, required, schema, ...rest }) =>
    renderRow(name, schema, required === true, rest.in === 'path' ? 'in the path' : 'in the query'),
  )
  return rows.length === 0 ? '' : renderTable(rows)
}

/** A body is of one endpoint, or two: its fields are there at once. */
function fieldsOf({ components }: OpenApi, schema: Schema | undefined): Schema | undefined {
  const name = schema && nameOf(schema)
  return name === undefined ? schema : fieldsOf({ paths: {}, components }, components.schemas[name])
}

function renderContent(title: string, schema: Schema | undefined): string {
  if (!schema) return ''
  if (nameOf(schema) !== undefined || !schema.properties)
    return `<p><strong>${title}:</strong> ${renderType(schema)}</p>`
  return `<p><strong>${title}</strong></p>\n${renderFields(schema)}`
}

function renderAnswer(status: string, { description = '', content, ...answer }: Answer): string {
  const events = Object.entries(answer['x-events'] ?? {})
  if (events.length > 0) {
    const kinds = events.map(([name, schema]) => `<code>${escapeHtml(name)}</code>: ${renderType(schema)}`)
    return `<p><strong>Events:</strong> ${kinds.join('; ')}</p>`
  }
  const schema = content?.['application/json']?.schema
  return schema
    ? renderContent(`Answer ${status}`, schema)
    : `<p><strong>Answer ${status}:</strong> ${escapeHtml(description)}</p>`
}

function renderSchema([name, schema]: [string, Schema]): string {
  const fields = schema.properties ? renderFields(schema) : `<p>${renderType(schema)} ${limitsOf(schema)}</p>`
  return renderClosed(spotOfSchema(name), `<code>${escapeHtml(name)}</code>`, fields)
}

function renderFields({ properties = {}, required = [] }: Schema): string {
  const rows = Object.entries(properties).map(([name, schema]) =>
    renderRow(name, schema, required.includes(name), ''),
  )
  return rows.length === 0 ? '<p>No fields.</p>' : renderTable(rows)
}

const HEADS = ['Field', 'Kind', 'Notes'] as const

/** A part that is an object without a name of its own has its fields in the next rows. */
function renderRow(name: string, schema: Schema, isRequired: boolean, place: string): string {
  const inner = innerFields(schema)
  const notes = [place, isRequired ? '' : 'may be left out', limitsOf(schema)].filter(Boolean).join(', ')
  const cells = [`<code>${escapeHtml(name)}</code>`, renderType(schema), notes]
  const row = `<tr>${cells.map((cell, at) => `<td data-label="${HEADS[at]}">${cell}</td>`).join('')}</tr>`
  const below = inner.map(([key, part, needed]) => renderRow(`${name}.${key}`, part, needed, ''))
  return [row, ...below].join('\n')
}

function innerFields(schema: Schema): [string, Schema, boolean][] {
  const list = typeof schema.items === 'object' ? schema.items : undefined
  const parts = (schema.anyOf ?? schema.oneOf ?? [list ?? schema]).filter(({ properties }) => properties)
  // Of several kinds of objects, no one table could tell.
  const [only] = parts
  if (!only?.properties || parts.length > 1) return []
  return Object.entries(only.properties).map(([key, part]) => [
    key,
    part,
    only.required?.includes(key) ?? false,
  ])
}

function renderTable(rows: readonly string[]): string {
  const heads = HEADS.map((head) => `<th>${head}</th>`).join('')
  return `<div class="wide" role="region" aria-label="Table" tabindex="0"><table><thead><tr>${heads}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div>`
}
