import type { CreatedPat, Pat } from '@postern/contract/pats'
import { publishAs } from '@postern/testkit/agent-calls'
import { fetchState } from '@postern/testkit/edge-client'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { describe, expect, it, vi } from 'vitest'

const resolver = fresh(() => ({ resolve: async () => ['203.0.113.1'] }))
const server = fresh(() => startTestServer({ world: { resolver } }))
const client = fresh(() => server.signIn())
const form = { name: 'gw', agentMayPublish: true, agentDomains: ['*.example.com'] }
const node = fresh(() => client.createNode(form))
const copied = fresh<CreatedPat>(async () => (await client.post(pats(), { name: 'copied' })).json())

const pats = () => `/api/nodes/${node.id}/pats`
const send = (token: string, source: string, services: unknown[]) =>
  server.as(token).put('/api/agent/services', { source, services })
const publish = (token: string, source: string, services: unknown[]) =>
  publishAs(server, token, services, source)
const web = (key: string, domain = `${key}.example.com`) => ({
  ...{ key, type: 'http', name: key, domain, backendPort: 8080 },
})
const names = async () =>
  (await client.get('/api/services/http'))
    .json()
    .filter(({ source }: { source: string | null }) => source !== null)
    .map(({ name }: { name: string }) => name)
    .sort()
const published = async () =>
  Object.fromEntries((await client.get(pats())).json<Pat[]>().map(({ name, published }) => [name, published]))
const revoke = (query = '') => client.patch(`${pats()}/${copied.id}/revoke${query}`)

describe('what a token published', () => {
  it.each([
    ['revoked', () => revoke('?forgetKey=true')],
    ['deleted', () => client.delete(`${pats()}/${copied.id}?forgetKey=true`)],
  ])('goes with it in one change when it is %s with everything that came by it', async (_, end) => {
    await publish(node.token, 'docker', [web('own')])
    await publish(copied.token, 'hidden', [web('a'), web('b'), { ...web('bad'), backendPort: 0 }])
    expect(await published()).toEqual({ default: 1, copied: 2 })
    const { revision } = await fetchState(server)
    expect((await end()).statusCode).toBe(200)
    expect(await names()).toEqual(['own'])
    const state = await fetchState(server)
    expect(state.revision).toBe(revision + 1)
    expect(state.sections.routes.map(({ domain }) => domain)).not.toContain('a.example.com')
    expect((await client.get('/api/domains')).body).not.toContain('a.example.com')
    expect(await published()).toMatchObject({ default: 1 })
  })

  it('stays when only the token is to go', async () => {
    await publish(copied.token, 'hidden', [web('a')])
    await revoke()
    expect([await names(), await published()]).toEqual([['a'], { default: 0, copied: 1 }])
    await client.delete(`${pats()}/${copied.id}?forgetKey=true`)
    expect(await names()).toEqual([])
  })

  it('stays with the token that published it again, be it the same', async () => {
    const { json } = await client.post(pats(), { name: 'next' })
    const set = [web('a'), web('b')]
    const before = await publish(copied.token, 'docker', set)
    const { revision } = await fetchState(server)
    expect(await publish(json<CreatedPat>().token, 'docker', set)).toEqual(before)
    expect([(await fetchState(server)).revision, await published()]).toEqual([
      revision,
      { default: 0, copied: 0, next: 2 },
    ])
    await revoke('?forgetKey=true')
    expect(await names()).toEqual(['a', 'b'])
  })

  it('is requested again from the other agents, even when the token published nothing instead', async () => {
    const askAnew = vi.fn()
    const drop = () => undefined
    const disconnect = server.context.agents.connect({ nodeId: node.id, tokenId: 0 }, { askAnew, drop })
    await publish(node.token, 'docker', [web('own')])
    await publish(copied.token, 'docker', [])
    await revoke('?forgetKey=true')
    expect(await names()).toEqual([])
    expect(askAnew).toHaveBeenCalledOnce()
    disconnect()
    await publish(node.token, 'docker', [web('own')])
    expect(await names()).toEqual(['own'])
  })

  it('is not published when the token ended while its domains were looked up', async () => {
    resolver.resolve = async () => {
      await revoke('?forgetKey=true')
      return ['203.0.113.1']
    }
    const answer = await send(copied.token, 'hidden', [web('late', 'late.example.net')])
    expect([answer.statusCode, answer.json().code]).toEqual([403, 'token_revoked'])
    expect(await names()).toEqual([])
  })
})
