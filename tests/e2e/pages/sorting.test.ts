import { onlinePeer } from '@postern/testkit/edge-client'
import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { shared } from '@postern/testkit/shared'
import { it } from 'vitest'
import { expect } from '../expect.ts'
import { startSite } from '../harness.ts'
import { rowOf } from '../steps.ts'

const site = shared(() => startSite())
const edge = shared(() => connectFakeEdge(site.paths))

it('nodes are sorted by name, handshake and both kinds of traffic, each both ways', async () => {
  const nodes = await Promise.all(['one', 'two', 'three'].map((name) => site.api.createNode({ name })))
  const figures = [
    { rx: 10_240, tx: 3_072, latestHandshake: Date.now() - 20_000 },
    { rx: 1_048_576, tx: 2_048, latestHandshake: Date.now() - 40_000 },
    { rx: 5_120, tx: 9_216, latestHandshake: Date.now() - 30_000 },
  ]
  edge.sendPeers(nodes.map(({ id }, index) => ({ ...onlinePeer(id), ...figures[index] })))
  const { page } = await site.open('/nodes?type=nodes')
  await rowOf(page, '1,024.00').waitFor()
  const names = page.locator('tbody .c-name a')
  const arrows = page.locator('th .sort')
  for (const [column, field, order] of [
    ['Name', 'name', ['one', 'three', 'two']],
    ['Latest Handshake', 'latestHandshakeTimestamp', ['two', 'three', 'one']],
    ['Received (KB)', 'transferRx', ['three', 'one', 'two']],
    ['Transmitted (KB)', 'transferTx', ['two', 'one', 'three']],
  ] as const) {
    await page.getByRole('button', { name: column, exact: true }).click()
    await page.waitForURL(`**/nodes?type=nodes&orderBy=${field}%2Casc`)
    await expect(names).toHaveText(order)
    await page.getByRole('button', { name: column, exact: true }).click()
    await page.waitForURL(`**/nodes?type=nodes&orderBy=${field}%2Cdesc`)
    await expect(names).toHaveText(order.toReversed())
  }
  // Sortable columns look sortable, and different from the one that is sorted.
  await expect(arrows).toHaveCount(4)
  await expect(arrows.first()).toHaveCSS('opacity', '0.45')
  await expect(arrows.last()).toHaveCSS('opacity', '1')
})

it('a node that was lost, one that a person disconnected and one that never connected look and read differently', async () => {
  const [lost, closed, fresh] = await Promise.all(
    ['lost', 'closed', 'fresh'].map((name) => site.api.createNode({ name })),
  )
  if (!lost || !closed || !fresh) throw new Error('three nodes were asked for')
  const longAgo = { latestHandshake: Date.now() - 3_600_000, reachable: false }
  edge.sendPeers([lost, closed].map(({ id }) => ({ ...onlinePeer(id), ...longAgo })))
  await site.api.call('PATCH', `/api/nodes/${closed.id}/disable`)
  const visit = await site.open('/nodes?type=nodes')
  const { page } = visit
  for (const [name, words, classes] of [
    ['lost', 'Offline', 'dot offline'],
    ['closed', 'Offline: disconnected', 'dot offline away'],
    ['fresh', 'Offline: never connected', 'dot offline away'],
  ] as const) {
    const dot = rowOf(page, name).locator('.c-dot .dot')
    await expect(dot).toHaveText(words)
    await expect(dot).toHaveClass(classes)
  }
  await visit.expectAccessible()
})

it('the HTTP services of a node are found by name and address, and sorted by name', async () => {
  const node = await site.api.createNode({ name: 'host' })
  for (const [name, domain] of [
    ['shop', 'b.example.com'],
    ['blog', 'a.example.com'],
    ['mail', 'shop.example.org'],
    ['docs', 'd.example.com'],
    ['chat', 'c.example.com'],
    ['wiki', 'w.example.com'],
  ] as const)
    await site.api.publish(node.id, { name, domain })
  const { page } = await site.open(`/nodes/${node.id}`)
  const card = page.getByRole('region', { name: 'HTTP Services' })
  const names = card.locator('tbody b')
  await expect(names).toHaveText(['shop', 'blog', 'mail', 'docs', 'chat'])
  await card.getByRole('button', { name: 'Name' }).click()
  await expect(names).toHaveText(['blog', 'chat', 'docs', 'mail', 'shop'])
  await card.getByRole('searchbox', { name: 'Search HTTP services' }).fill('SHOP')
  await expect(names).toHaveText(['mail', 'shop'])
  await page.waitForURL('**/nodes/*?http.orderBy=name%2Casc&http.search=SHOP')
  await page.reload()
  await expect(names).toHaveText(['mail', 'shop'])
  await card.getByPlaceholder('Search name or address').fill('https://a.example.com/')
  await expect(names).toHaveText(['blog'])
})
