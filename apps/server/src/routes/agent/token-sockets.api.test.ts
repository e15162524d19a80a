import type { Node } from '@postern/contract/nodes'
import type { CreatedPat } from '@postern/contract/pats'
import { openAgentSocket } from '@postern/testkit/agent-calls'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, describe, expect, it } from 'vitest'

const server = shared(startTestServer)
const client = shared(() => server.signIn())
beforeAll(() => server.listen())

const createNode = (name: string) => client.createNode({ name })
const pats = (node: { id: number }) => `/api/nodes/${node.id}/pats`
const create = async (node: Node, form: object): Promise<CreatedPat> =>
  (await client.post(pats(node), form)).json()
const ask = (token: string) => server.as(token).get('/api/agent/config')
const iso = (ms: number) => new Date(ms).toISOString()

describe("the agent's socket", () => {
  async function connect(token: string) {
    const opened = await openAgentSocket(server, token)
    await until('the first hint', () => opened.frames.length > 0)
    return opened
  }
  /** It takes at most two seconds on an idle machine. */
  const ended = (opened: { closed: string }, timeoutMs = 10_000) =>
    until('the end', () => opened.closed || undefined, { timeoutMs })

  it('ends with its token; one with another token reconnects and publishes again', async () => {
    const node = await createNode('site')
    const [a, b] = [await create(node, { name: 'a' }), await create(node, { name: 'b' })]
    const [first, other] = [await connect(a.token), await connect(node.token)]
    await client.patch(`${pats(node)}/${a.id}/revoke`)
    expect(await ended(first)).toBe('the access token was revoked')
    expect(await ended(other)).toBe('publish again')
    const [second, kept] = [await connect(b.token), await connect((await createNode('other')).token)]
    await client.delete(`${pats(node)}/${b.id}`)
    expect(await ended(second)).toBe('the access token was deleted')
    await client.patch(`/api/nodes/${node.id + 1}`, { name: 'renamed' })
    await until('a hint for the node whose tokens stay', () => kept.frames.length > 1)
    expect(kept.closed).toBe('')
    kept.socket.close()
  })

  it('ends when its token expires, by itself', async () => {
    const node = await createNode('site')
    const { token } = await create(node, { name: 'x', expireAt: iso(Date.now() + 8000) })
    const opened = await connect(token)
    expect(opened.closed).toBe('')
    expect(await ended(opened, 8000 + 10_000)).toBe('the access token has expired')
    expect((await ask(token)).json().code).toBe('token_expired')
  })

  it('survives an expiry that is further away than any timer', async () => {
    const node = await createNode('site')
    const { token } = await create(node, { name: 'x', expireAt: '9998-12-31T00:00:00Z' })
    const opened = await connect(token)
    await client.patch(`/api/nodes/${node.id}`, { name: 'renamed' })
    await until('another hint', () => opened.frames.length > 1)
    expect(opened.closed).toBe('')
    opened.socket.close()
  })

  it('ends even when the agent does not answer the close', async () => {
    const node = await createNode('deaf')
    const { id, token } = await create(node, { name: 'x' })
    const { socket } = await connect(token)
    const countOpen = () =>
      new Promise<number>((resolve) => server.app.server.getConnections((_, n) => resolve(n)))
    const before = await countOpen()
    socket.pause()
    await client.delete(`${pats(node)}/${id}`)
    await until('one connection less', async () => (await countOpen()) < before, { timeoutMs: 10_000 })
    socket.terminate()
  })
})
