import type { CreatedNode } from '@postern/contract/nodes'
import type { Publication, PublishedService } from '@postern/contract/services/publishing'
import type { Service } from '@postern/contract/services/services'
import { publishAs } from '@postern/testkit/agent-calls'
import { fetchState } from '@postern/testkit/edge-client'
import { startTestServer } from '@postern/testkit/server'
import { expect } from 'vitest'

/** @param address where every name leads; the server's own is 203.0.113.1 */
export async function startPublishingLab(settings: Record<string, string>, address = '203.0.113.1') {
  const server = await startTestServer({ settings, world: { resolver: { resolve: async () => [address] } } })
  const client = await server.signIn()
  /** A node that may publish, and has the domains of example.com. */
  const createNode = (name: string, over: object = {}) =>
    client.createNode({ name, agentMayPublish: true, agentDomains: ['*.example.com'], ...over })
  const node = await createNode('gw')
  const list = async (): Promise<Service[]> => [
    ...(await client.get('/api/services/http')).json(),
    ...(await client.get('/api/services/tcp')).json(),
  ]
  const find = async (name: string) => (await list()).find((service) => service.name === name)
  return {
    ...{ server, client, node, createNode, list, find },
    async get(name: string): Promise<Service> {
      const service = await find(name)
      if (!service) throw new Error(`no service ${name}`)
      return service
    },
    /** The names of services that agents published. */
    published: async () => (await list()).filter(({ source }) => source !== null).map(({ name }) => name),
    domains: async (): Promise<string[]> =>
      (await client.get('/api/domains')).json().map(({ domain }: { domain: string }) => domain),
    revision: async () => (await fetchState(server)).revision,
    send: (payload: unknown, token = node.token) => server.as(token).put('/api/agent/services', payload),
    publish: (
      services: unknown[],
      { source = 'docker', from = node }: { source?: string; from?: CreatedNode } = {},
    ) => publishAs(server, from.token, services, source),
    toggle: ({ nodeId, type, id }: Service, verb: 'enable' | 'disable') =>
      client.patch(`/api/services/${nodeId}/${type}/${id}/${verb}`),
    remove: ({ nodeId, type, id }: Service) => client.delete(`/api/services/${nodeId}/${type}/${id}`),
    close: () => server.close(),
  }
}

export const web = (key: string, over: object = {}) =>
  ({
    ...{ key, type: 'http', name: key, domain: `${key}.example.com`, backendPort: 8080 },
    ...over,
  }) satisfies PublishedService

export const port = (key: string, over: object = {}) =>
  ({ key, type: 'tcp', name: key, backendPort: 5432, ...over }) satisfies PublishedService

/** The answer to a service that is refused for one field. */
export const refusal = (field: string, message: string | RegExp) => ({
  state: 'refused',
  errors: [{ field, message: typeof message === 'string' ? message : expect.stringMatching(message) }],
})

/** Field and message of the refused ones. */
export const wordsOf = (answer: Publication | undefined) =>
  answer?.state === 'refused' ? answer.errors.map(({ field, message }) => `${field} ${message}`) : []
