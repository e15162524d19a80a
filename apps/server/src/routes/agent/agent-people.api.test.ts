import { fetchState } from '@postern/testkit/edge-client'
import { fresh } from '@postern/testkit/shared'
import { beforeEach, describe, expect, it } from 'vitest'
import { port, startPublishingLab, web } from '../../../test/publishing-lab.ts'

const lab = fresh(() => startPublishingLab({ POSTERN_PORT_RANGE: '32700-32710' }, '198.51.100.1'))

describe('a person', () => {
  beforeEach(() => lab.publish([web('a'), port('b')]))

  it('cannot edit a service of a source', async () => {
    const a = await lab.get('a')
    const answer = await lab.client.patch(`/api/services/${lab.node.id}/http/${a.id}`, { name: 'mine' })
    expect(answer.statusCode).toBe(409)
    expect(answer.json()).toMatchObject({
      code: 'published',
      message: 'This service comes from Docker on “gw”: change it there',
    })
    const b = await lab.get('b')
    expect(
      (await lab.client.patch(`/api/services/${lab.node.id}/tcp/${b.id}`, { port: 32710 })).statusCode,
    ).toBe(409)
  })

  it('can disable it, until a person enables it again', async () => {
    await lab.toggle(await lab.get('a'), 'disable')
    const held = { key: 'a', enabled: false, disabledByPerson: true }
    expect(await lab.publish([web('a'), port('b')])).toMatchObject([held, { key: 'b', enabled: true }])
    // Even when the container is recreated meanwhile.
    await lab.publish([])
    expect(await lab.publish([web('a', { backendPort: 9 })])).toMatchObject([held])
    await lab.remove(await lab.get('a'))
    expect(await lab.publish([web('a')])).toMatchObject([held])
    expect((await lab.toggle(await lab.get('a'), 'enable')).statusCode).toBe(200)
    expect(await lab.publish([web('a')])).toMatchObject([{ enabled: true, disabledByPerson: false }])
    await lab.publish([])
    expect(await lab.publish([web('a')])).toMatchObject([{ enabled: true, disabledByPerson: false }])
  })

  it('cannot enable what its source disabled', async () => {
    await lab.publish([web('a', { enabled: false })])
    const a = await lab.get('a')
    expect(a.enabled).toBe(false)
    const answer = await lab.toggle(a, 'enable')
    expect(answer.json()).toMatchObject({ message: 'Docker on “gw” disabled it: enable it there' })
    await lab.toggle(a, 'disable')
    expect(await lab.publish([web('a')])).toMatchObject([{ enabled: false, disabledByPerson: true }])
  })

  it('can delete it; it comes back with the next set', async () => {
    expect((await lab.remove(await lab.get('a'))).statusCode).toBe(200)
    expect(await lab.published()).toEqual(['b'])
    await lab.publish([web('a'), port('b')])
    expect(await lab.published()).toEqual(['a', 'b'])
  })

  it('see in the record who did it', async () => {
    await lab.publish([web('a', { backendPort: 1 })])
    await lab.publish([])
    const { changes } = (await lab.client.get('/api/overview')).json()
    expect(changes.slice(0, 3)).toMatchObject([
      { actor: 'Docker on gw', what: 'service withdrawn', name: 'a', nodeId: lab.node.id },
      { actor: 'Docker on gw', what: 'service published', name: 'a', nodeId: lab.node.id },
      { actor: 'Docker on gw', what: 'services published', name: '“a”, “b”', nodeId: lab.node.id },
    ])
  })
})

describe('the right to publish', () => {
  it('is off unless a person grants it, and the agent learns of it', async () => {
    const plain = await lab.createNode('plain', { agentMayPublish: undefined })
    expect((await lab.client.get(`/api/nodes/${plain.id}`)).json().agentMayPublish).toBe(false)
    const config = async () => (await lab.server.as(plain.token).get('/api/agent/config')).json()
    expect((await config()).mayPublish).toBe(false)
    const refused = await lab.send({ source: 'docker', services: [web('a')] }, plain.token)
    expect(refused.statusCode).toBe(403)
    expect(refused.json()).toMatchObject({
      code: 'may_not_publish',
      message:
        "The agent of “plain” may not publish services. Tick “Agent May Publish Services” in the node's form.",
    })
    await lab.client.patch(`/api/nodes/${plain.id}`, { agentMayPublish: true })
    expect((await config()).mayPublish).toBe(true)
    await lab.publish([web('a')], { from: plain })
  })

  it('is for node tokens only', async () => {
    expect((await lab.send({ source: 'docker', services: [] }, lab.client.token)).statusCode).toBe(403)
    expect((await lab.send({ source: 'docker', services: [] }, 'ptn_unknown')).statusCode).toBe(401)
  })

  it('removes all services when it is withdrawn, in one change, and what people disabled stays disabled', async () => {
    await lab.publish([web('a'), port('b')])
    await lab.publish([web('c')], { source: 'file' })
    await lab.toggle(await lab.get('a'), 'disable')
    await lab.client.post(`/api/services/${lab.node.id}/tcp`, { name: 'mine', backendPort: 1883 })
    const before = await lab.revision()
    await lab.client.patch(`/api/nodes/${lab.node.id}`, { agentMayPublish: false })
    expect(await lab.revision()).toBe(before + 1)
    expect((await lab.list()).map(({ name }) => name)).toEqual(['Console', 'mine'])
    expect(await lab.domains()).toEqual([])
    expect((await fetchState(lab.server)).sections.ports).toHaveLength(1)
    await lab.client.patch(`/api/nodes/${lab.node.id}`, { agentMayPublish: true })
    expect(await lab.publish([web('a')])).toMatchObject([{ disabledByPerson: true }])
  })

  it('ends with the node, together with all publications', async () => {
    await lab.publish([web('a'), port('b')])
    await lab.toggle(await lab.get('a'), 'disable')
    await lab.publish([port('b')])
    expect((await lab.client.delete(`/api/nodes/${lab.node.id}`)).statusCode).toBe(200)
    expect(await lab.published()).toEqual([])
    expect(await lab.domains()).toEqual([])
  })

  it('leaves everything in place while the agent is gone or the node disconnected', async () => {
    await lab.publish([web('a')])
    await lab.client.patch(`/api/nodes/${lab.node.id}/disable`)
    expect(await lab.get('a')).toMatchObject({ enabled: true })
    expect(await lab.publish([web('a')])).toMatchObject([{ state: 'published' }])
  })
})
