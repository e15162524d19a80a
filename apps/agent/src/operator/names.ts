import type { Domain } from '@postern/contract/domains'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { Node } from '@postern/contract/nodes'
import type { Service } from '@postern/contract/services/services'
import { AgentError } from '../errors.ts'
import { printable } from '../io.ts'
import type { Api } from './api.ts'

interface Named {
  id: number
  name: string
}

/** A node by its name or id. */
export async function getNode(api: Api, text: string): Promise<Node> {
  const named = await api.list(endpoints.listNodes, { query: { search: text } })
  const exact = named.filter(({ name }) => isSame(name, text))
  if (exact.length > 0) return onlyOne('node', text, exact, ({ address }) => address)
  return await findById(text, async (id) => api.call(endpoints.getNode, { params: { id } }), 'node')
}

/** The node on which something is published where none is named: the only one there is. */
export async function getOnlyNode(api: Api): Promise<Node> {
  const nodes = (await api.list(endpoints.listNodes)).filter(({ isLocal }) => !isLocal)
  const [node] = nodes
  if (node && nodes.length === 1) return node
  const names = nodes.slice(0, 20).map(({ name }) => printable(name))
  throw new AgentError(
    'usage',
    node
      ? `Say on which node: --node ${names.join(', or --node ')}`
      : 'There is no node yet: add one in the console',
  )
}

/** A service by its name, its public address, or its id. The console itself is not found. */
export async function getService(api: Api, text: string): Promise<Service> {
  const found = await api.list(endpoints.listAllServices, { query: { search: wordsOf(text) } })
  const isMeant = ({ name, publicAccess, domain }: Service) =>
    isSame(name, text) || [publicAccess, domain].some((address) => address && isSameAddress(address, text))
  const exact = found.filter(isMeant)
  if (exact.length > 0) return onlyOne('service', text, exact, ({ nodeName }) => `on ${nodeName}`)
  const byId = async (id: number) =>
    (await api.list(endpoints.listAllServices)).find((service) => service.id === id)
  return await findById(text, byId, 'service')
}

export async function getDomain(api: Api, text: string): Promise<Domain> {
  const found = await api.list(endpoints.listDomains, { query: { search: text } })
  const exact = found.find(({ domain }) => isSame(domain, text))
  if (exact) return exact
  throw new AgentError('not-found', `There is no domain “${printable(text)}”`)
}

const isSame = (a: string, b: string) => a.toLowerCase() === b.normalize('NFC').toLowerCase()

function isSameAddress(a: string, b: string): boolean {
  const bare = (text: string) =>
    text
      .toLowerCase()
      .replace(/^[a-z]+:\/\//, '')
      .replace(/\/$/, '')
  return bare(a) === bare(b)
}

/** Search knows neither schemes nor paths. */
function wordsOf(text: string): string {
  const [, host] = /^[a-z]+:\/\/(\[[^\]]*\]|[^/:]*)/i.exec(text) ?? []
  return (host || text).slice(0, 253)
}

async function findById<T>(
  text: string,
  find: (id: number) => Promise<T | undefined>,
  noun: string,
): Promise<T> {
  const [, id] = /^#?([1-9]\d{0,14})$/.exec(text) ?? []
  const found = id === undefined ? undefined : await find(Number(id))
  if (found !== undefined) return found
  throw new AgentError('not-found', `There is no ${noun} “${printable(text)}”`)
}

function onlyOne<T extends Named>(
  noun: string,
  text: string,
  found: readonly T[],
  about: (row: T) => string,
): T {
  const [first] = found
  if (first && found.length === 1) return first
  const choices = found.slice(0, 20).map((row) => `${row.id} (${printable(about(row))})`)
  throw new AgentError(
    'not-found',
    `${found.length} ${noun}s are called “${printable(text)}”. Use an id: ${choices.join(', ')}`,
  )
}
