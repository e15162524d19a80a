import { callApi } from '@postern/testkit/api'
import { onlinePeer } from '@postern/testkit/edge-client'
import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, describe, it } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite } from '../harness.ts'
import { choose, rowOf } from '../steps.ts'

const site = shared(() => startSite())
const edge = shared(() => connectFakeEdge(site.paths))
const node = shared(() => site.api.createNode({ name: 'office' }))
beforeAll(async () => {
  edge.sendPeers([onlinePeer(node.id)])
  await until('the node to be online', async () => (await site.api.getNode(node.id)).status === 'online')
})

describe('a service whose node is not there', () => {
  it('says so instead of Live, in the dialog and on its row, and updates on its own', async () => {
    const attic = await site.api.createNode({ name: 'attic' })
    const visit = await site.open(`/nodes/${attic.id}`)
    const { page } = visit
    await page.getByText('Offline: never connected').waitFor({ state: 'attached' })
    await page.getByRole('button', { name: 'Add Service' }).first().click()
    const form = page.getByRole('dialog', { name: 'Expose HTTP Service on Node' })
    await form.getByLabel(label('Service Name')).fill('away')
    await form.getByLabel(label('Public HTTP Path')).fill('/away')
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByText('away is saved. It goes live when attic connects.').waitFor()
    await visit.expectAccessible()
    await page.getByRole('button', { name: 'Got it!' }).click()
    await expect(rowOf(page, 'away').getByText('Node offline')).toHaveClass('phase warn')
    await rowOf(page, 'away').getByText('attic has never connected').waitFor()
    edge.sendPeers([onlinePeer(attic.id)])
    await rowOf(page, 'away').getByText('Live').waitFor()
    edge.sendPeers([{ ...onlinePeer(attic.id), reachable: false }])
    await rowOf(page, 'away').getByText('attic does not answer through the tunnel').waitFor()
    edge.sendPeers([{ ...onlinePeer(attic.id), latestHandshake: Date.now() - 3_700_000 }])
    await rowOf(page, 'away').getByText('attic was last seen 1 hour ago').waitFor()
    await visit.expectAccessible()
    await site.api.call('PATCH', `/api/nodes/${attic.id}/disable`)
    await expect(rowOf(page, 'away').getByText('Node disconnected')).toHaveClass(/^phase\s*$/)
    await rowOf(page, 'away').getByText('attic is disconnected').waitFor()
    await page.getByText('Offline: disconnected').waitFor({ state: 'attached' })
    await visit.expectAccessible()
  })
})

describe('the service card', () => {
  it('says Applying until the edge has it, then Live, or the reason when it failed', async () => {
    await edge.pause(true)
    const service = await site.api.publish(node.id, { name: 'slow', domain: 'slow.example.com' })
    const visit = await site.open(`/nodes/${node.id}`)
    const { page } = visit
    await rowOf(page, 'slow').getByText('Applying').waitFor()
    await edge.pause(false)
    await rowOf(page, 'slow').getByText('Live').waitFor()
    await expect(rowOf(page, 'slow').locator('.dot')).toHaveClass('dot enabled')
    const message = 'The name db.internal cannot be resolved'
    await edge.setProblems([{ scope: { kind: 'service', id: service.id }, message }])
    await rowOf(page, 'slow').getByText(message).waitFor()
    await expect(rowOf(page, 'slow').getByText('Failed')).toHaveClass('phase bad')
    await expect(rowOf(page, 'slow').locator('.dot')).toHaveClass('dot enabled pale')
    await edge.setProblems([])
    await rowOf(page, 'slow').getByText('Live').waitFor()
    await site.api.removeService(service)
  })

  it('says in its dialog what it waits for, and that it is available only once it really is', async () => {
    await edge.pause(true)
    const service = await site.api.publish(node.id, { name: 'turn', domain: 'turn.example.com' })
    const visit = await site.open(`/nodes/${node.id}`)
    const { page } = visit
    await choose(page, 'Actions for turn', 'Info')
    const saved = (words: string) => page.getByRole('dialog', { name: 'Saved' }).getByText(words).waitFor()
    const live = () => page.getByRole('dialog', { name: 'Your Service is Now Publicly Available' }).waitFor()
    await saved('turn is being applied.')
    await edge.pause(false)
    await live()
    edge.sendTrouble(service.id, 'unchecked')
    await saved('Checking whether turn answers.')
    edge.sendTrouble(service.id, 'refused')
    await saved("turn isn't available. The service refused the connection.")
    edge.sendTrouble(service.id, null)
    await live()
    await edge.setProblems([{ scope: { kind: 'service', id: service.id }, message: 'No such host' }])
    await saved("turn isn't available. No such host")
    await edge.setProblems([])
    await live()
    await site.api.removeService(service)
  })

  it('says Not answering with the reason until the backend answers again, without a reload', async () => {
    const service = await site.api.publish(node.id, { name: 'mute', domain: 'mute.example.com' })
    const visit = await site.open(`/nodes/${node.id}`)
    const { page } = visit
    await rowOf(page, 'mute').getByText('Live').waitFor()
    edge.sendTrouble(service.id, 'refused')
    await rowOf(page, 'mute').getByText('Not answering').waitFor()
    const help = rowOf(page, 'mute').getByRole('link', { name: 'What to do' })
    await expect(help).toHaveAttribute('href', '/docs/troubleshooting#service-unanswered')
    await rowOf(page, 'mute').getByText('The service refused the connection.').waitFor()
    await visit.expectAccessible()
    edge.sendTrouble(service.id, 'only-tls')
    await rowOf(page, 'mute').getByText('Choose https as its protocol').waitFor()
    edge.sendTrouble(service.id, null)
    await rowOf(page, 'mute').getByText('Live').waitFor()
    await expect(rowOf(page, 'mute').getByText('Not answering')).toHaveCount(0)
    await site.api.removeService(service)
  })

  it('disables, enables, edits and deletes', async () => {
    const service = await site.api.publish(node.id, { name: 'acted', domain: 'acted.example.com' })
    const { page } = await site.open(`/nodes/${node.id}`)
    await choose(page, 'Actions for acted', 'Disable Access')
    await page.getByRole('button', { name: /^Yes/ }).click()
    await page.getByText('Service disabled from public access successfully!').waitFor()
    await rowOf(page, 'acted').getByText('Disabled').first().waitFor({ state: 'attached' })
    expect((await site.api.getService(service)).enabled).toBe(false)
    await choose(page, 'Actions for acted', 'Enable Access')
    await page.getByRole('button', { name: /^Yes/ }).click()
    await page.getByText('Service exposed successfully!').waitFor()
    await choose(page, 'Actions for acted', 'Edit Service')
    const form = page.getByRole('dialog', { name: 'Edit HTTP Service: acted' })
    await form.getByLabel(label('Backend Port')).fill('9999')
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Got it!' }).click()
    await rowOf(page, 'acted').getByText('9999').waitFor()
    await choose(page, 'Actions for acted', 'Delete Service')
    await page.getByRole('button', { name: /^Yes/ }).click()
    await page.getByText('Service deleted successfully!').waitFor()
    await rowOf(page, 'acted').waitFor({ state: 'detached' })
  })
})

describe('a service that an agent publishes', () => {
  it('comes and goes on its own, says where it comes from, and can only be viewed, disabled and deleted', async () => {
    const host = await site.api.createNode({
      ...{ name: 'docker host', agentMayPublish: true, agentDomains: ['c.example.com'] },
    })
    const publish = (backendPort: number) => {
      const service = { key: 'web', type: 'http', name: 'container', domain: 'c.example.com', backendPort }
      const services = backendPort === 0 ? [] : [service]
      const set = { source: 'docker', services }
      return callApi(site.paths.serverSocket, host.token, 'PUT', '/api/agent/services', set)
    }
    const visit = await site.open(`/nodes/${host.id}`)
    const { page } = visit
    await page.getByText('No HTTP services yet').waitFor()
    await expect(page.locator('dl.facts dd').last()).toHaveText('Yes')
    expect((await publish(8080)).status).toBe(200)
    await rowOf(page, 'container').getByText('Proxy -> http://localhost:8080').waitFor()
    await rowOf(page, 'container')
      .getByRole('button', { name: /^Docker/ })
      .hover()
    await page
      .getByText(/^Docker on docker host publishes this service\. Change it in the labels/)
      .last()
      .waitFor()
    await visit.expectAccessible()
    await choose(page, 'Actions for container', 'Show Settings')
    const form = page.getByRole('dialog', { name: 'HTTP Service: container' })
    await form.getByText(/^Docker on docker host publishes this service/).waitFor()
    for (const name of ['Service Name', 'Public Domain', 'Public HTTP Path', 'Backend Port'])
      await expect(form.getByLabel(label(name)), name).toBeDisabled()
    await expect(form.getByRole('button', { name: 'Save' })).toHaveCount(0)
    await expect(form.locator('.dlg-body button:enabled')).toHaveCount(0)
    await visit.expectAccessible()
    await form.getByRole('button', { name: 'Close' }).last().click()
    await choose(page, 'Actions for container', 'Disable Access')
    await page.getByRole('button', { name: /^Yes/ }).click()
    await rowOf(page, 'container').getByText('Disabled').first().waitFor({ state: 'attached' })
    await publish(9090)
    await rowOf(page, 'container').getByText('Proxy -> http://localhost:9090').waitFor()
    await rowOf(page, 'container').getByText('Disabled').first().waitFor({ state: 'attached' })
    await choose(page, 'Actions for container', 'Delete Service')
    await page.getByText(/comes back when Docker on docker host publishes it again/).waitFor()
    await page.keyboard.press('Escape')
    await publish(0)
    await page.getByText('No HTTP services yet').waitFor()
  })
})
