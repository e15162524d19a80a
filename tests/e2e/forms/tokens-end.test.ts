import type { AgentConfig } from '@postern/contract/agent/agent'
import type { CreatedNode } from '@postern/contract/nodes'
import { callApi } from '@postern/testkit/api'
import { shared } from '@postern/testkit/shared'
import { describe, it } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite } from '../harness.ts'
import { choose, menuItems, rowOf } from '../steps.ts'
import { cardOf, createTokenSteps, openForm, pats, readyOf, save } from '../tokens.ts'

const site = shared(() => startSite())

const { createNode, add, ask, open } = createTokenSteps(site)

describe('revoking and deleting', () => {
  it('asks first, ends the token, and says so; a revoked token cannot be revoked again', async () => {
    const node = await createNode('site')
    const { token } = await add(node, 'lost')
    const visit = await open(node)
    const { page } = visit
    await choose(page, 'Actions for token lost', 'Revoke')
    const confirm = page.getByRole('alertdialog', { name: 'Revoke Personal Access Token' })
    await confirm.getByText('does not necessarily end an active tunnel').waitFor()
    await confirm.getByText('disable the node').waitFor()
    await visit.expectAccessible()
    await confirm.getByRole('button', { name: 'Cancel' }).click()
    expect((await ask(token)).status).toBe(200)
    await choose(page, 'Actions for token lost', 'Revoke')
    await page.getByRole('button', { name: 'Yes, revoke token!' }).click()
    await page.getByText('Personal Access Token revoked successfully!').waitFor()
    await expect(rowOf(page, 'lost')).toContainText('Revoked')
    expect((await ask(token)).status).toBe(403)
    await page.getByRole('button', { name: 'Actions for token lost' }).click()
    expect(await menuItems(page)).toEqual(['Delete'])
  })

  it('rotates a token: the new one is shown once, and the old one holds until that is used', async () => {
    const node = await createNode('site')
    const old = await add(node, 'laptop')
    const visit = await open(node)
    const { page } = visit
    await choose(page, 'Actions for token laptop', 'Rotate')
    await page.getByRole('alertdialog', { name: 'Rotate Access Token' }).waitFor()
    await visit.expectAccessible()
    await page.getByRole('button', { name: 'Create New Token' }).click()
    const ready = readyOf(page)
    await ready.getByText('the old token is revoked when this one is used').waitFor()
    await visit.expectAccessible()
    const token = await ready.getByLabel('Access token', { exact: true }).inputValue()
    await ready.getByRole('button', { name: 'Got it!' }).click()
    const rows = rowOf(page, 'laptop')
    await expect(rows.first()).toContainText('The first use revokes the old token')
    await expect(rows.last()).toContainText('Active')
    expect((await ask(old.token)).status).toBe(200)
    expect((await ask(token)).status).toBe(200)
    await expect(rows.last()).toContainText('Revoked')
    await expect(rows.first()).toContainText('Active')
    expect((await ask(old.token)).status).toBe(403)
    await rows.last().getByRole('button').click()
    expect(await menuItems(page)).toEqual(['Delete'])
  })

  it('offers, ticked, to forget the key that was sent with it, and for no other token', async () => {
    const node = await createNode('site')
    const publicKey = Buffer.alloc(32, 31).toString('base64')
    await callApi(site.paths.serverSocket, node.token, 'PUT', '/api/agent/key', { publicKey })
    const { token } = await add(node, 'second')
    const keyOf = async () => {
      const { json } = await callApi(site.paths.serverSocket, token, 'GET', '/api/agent/config')
      return (json as AgentConfig).publicKey
    }
    const visit = await open(node)
    const { page } = visit
    const box = page.getByRole('checkbox', { name: "Forget the node's key too" })
    await choose(page, 'Actions for token second', 'Revoke')
    await page.getByRole('button', { name: 'Yes, revoke token!' }).waitFor()
    await expect(box).toHaveCount(0)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await choose(page, 'Actions for token default', 'Revoke')
    await expect(box).toBeChecked()
    await visit.expectAccessible()
    await box.uncheck()
    await page.getByRole('button', { name: 'Yes, revoke token!' }).click()
    await expect(rowOf(page, 'default')).toContainText('Revoked')
    expect(await keyOf()).toBe(publicKey)
    await choose(page, 'Actions for token default', 'Delete')
    await expect(box).toBeChecked()
    await page.getByRole('button', { name: 'Yes, delete it!' }).click()
    await rowOf(page, 'default').waitFor({ state: 'detached' })
    // Behind the dialog no row is seen, also while the token is being deleted.
    await expect.poll(keyOf).toBeNull()
  })

  it('says how many services are deleted with it', async () => {
    const { json } = await site.api.call('POST', '/api/nodes', {
      name: 'publisher',
      agentMayPublish: true,
      agentDomains: ['*.example.com'],
    })
    const node = json as CreatedNode
    const { token } = await add(node, 'copied')
    const services = ['one', 'two'].map((key) => ({
      ...{ key, type: 'http', name: key, domain: `${key}.example.com`, backendPort: 80 },
    }))
    const put = (path: string, body: object) => callApi(site.paths.serverSocket, token, 'PUT', path, body)
    await put('/api/agent/services', { source: 'hidden', services })
    const visit = await open(node)
    const { page } = visit
    const text = '2 services that it published are deleted.'
    await choose(page, 'Actions for token copied', 'Revoke')
    await expect(page.getByRole('checkbox', { name: 'Delete what it published too' })).toBeChecked()
    await page.getByText(text, { exact: true }).waitFor()
    await visit.expectAccessible()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await put('/api/agent/key', { publicKey: Buffer.alloc(32, 33).toString('base64') })
    await page.reload()
    await choose(page, 'Actions for token copied', 'Delete')
    await expect(page.getByRole('checkbox', { name: "Forget the node's key too" })).toBeChecked()
    await page.getByText(`until a machine connects with another token. ${text}`).waitFor()
    await page.getByRole('button', { name: 'Yes, delete it!' }).click()
    await rowOf(page, 'copied').waitFor({ state: 'detached' })
    const left = (await site.api.call('GET', '/api/services/http')).json as { nodeId: number }[]
    expect(left.filter(({ nodeId }) => nodeId === node.id)).toEqual([])
  })

  it('removes rows down to none, after which a token can be added again', async () => {
    const node = await createNode('site')
    const visit = await open(node)
    const { page } = visit
    await page.getByRole('button', { name: 'Actions for token default' }).click()
    expect(await menuItems(page)).toEqual(['Rotate', 'Revoke', 'Delete'])
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    const confirm = page.getByRole('alertdialog', { name: 'Delete Personal Access Token' })
    await confirm.getByText('is permanent and does not necessarily disconnect an active tunnel').waitFor()
    await confirm.getByRole('button', { name: 'Yes, delete it!' }).click()
    await page.getByText('Personal Access Token deleted successfully!').waitFor()
    await cardOf(page).getByText('No Access Tokens yet').waitFor()
    expect((await ask(node.token)).status).toBe(401)
    await visit.expectAccessible()
    const form = await openForm(page)
    await form.getByLabel(label('Name')).fill('next')
    await save(page)
    await readyOf(page).getByRole('button', { name: 'Got it!' }).click()
    await rowOf(page, 'next').waitFor()
  })

  it('continues when somebody else was faster', async () => {
    const node = await createNode('site')
    const { id } = await add(node, 'raced')
    const { page, forgive } = await open(node)
    forgive(/404/)
    await choose(page, 'Actions for token raced', 'Revoke')
    await site.api.call('DELETE', `${pats(node)}/${id}`)
    await page.getByRole('button', { name: 'Yes, revoke token!' }).click()
    await page.getByText('Token not found').waitFor()
    await rowOf(page, 'raced').waitFor({ state: 'detached' })
  })
})
