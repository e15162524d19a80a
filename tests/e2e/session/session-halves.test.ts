import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite, type Visit } from '../harness.ts'

/** Another program on the console's host: the same name, another port. */
let neighbour: { server: Server; origin: string }

const site = shared(() => startSite())
beforeAll(async () => {
  const server = createServer((_, response) =>
    response.setHeader('content-type', 'text/html').end('<p>Hello'),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // The address of a TCP listener has this type.
  neighbour = { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
})
afterAll(() => {
  neighbour?.server.close()
})

/** Signs in as a person does. */
async function signIn(path: string, watch: (page: Page) => void = () => undefined): Promise<Visit> {
  const visit = await site.open('/login', { signedIn: false })
  const { page } = visit
  watch(page)
  await page.goto(`${site.origin}${path}`)
  await page.waitForURL('**/login')
  await page.getByLabel(label('Username')).fill('admin')
  await page.getByLabel(label('Password')).fill(site.password)
  await page.keyboard.press('Enter')
  await page.waitForURL(`**${path}`)
  return visit
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })

async function tokenOf(visit: Visit): Promise<string> {
  const cookies = await visit.context.cookies(site.origin)
  return cookies.find((cookie) => cookie.name === 'token')?.value ?? 'none'
}

/** What the neighbour's page can see and do in the same browser. */
async function atNeighbour<T>(visit: Visit, act: () => T): Promise<T> {
  const page = await visit.context.newPage()
  await page.goto(neighbour.origin)
  const result = await page.evaluate(act)
  await page.close()
  return result as T
}

describe('the cookie alone', () => {
  it('is read by a page at another port of the host, which gets nothing with it', async () => {
    const visit = await signIn('/nodes')
    const seen = await atNeighbour(visit, () => ({ ...localStorage, cookie: document.cookie }))
    expect(Object.keys(seen)).toEqual(['cookie'])
    const token = /token=(pts_[\w-]{43})/.exec(seen.cookie)?.[1] ?? 'none'
    expect(token).toBe(await tokenOf(visit))
    for (const path of [
      '/api/auth/me',
      '/api/nodes',
      '/api/nodes/stream',
      `/api/nodes/stream?token=${token}`,
    ])
      for (const [name, value] of [
        ['cookie', `token=${token}`],
        ['authorization', `Bearer ${token}`],
      ] as const) {
        const answer = await fetch(`${site.origin}${path}`, { headers: { [name]: value } })
        await answer.body?.cancel()
        expect([path, answer.status]).toEqual([path, 401])
      }
    await visit.page.reload()
    await heading(visit.page, 'Client / Nodes').waitFor()
  })

  it('set by such a page does not make its session the console’s', async () => {
    const visit = await signIn('/nodes')
    visit.forgive(/401|Failed to load/)
    // An open page would notice, and remove the cookie.
    await visit.page.goto('about:blank')
    await visit.context.addCookies([
      { name: 'token', value: site.api.token, url: neighbour.origin, sameSite: 'Strict' },
    ])
    expect(await tokenOf(visit)).toBe(site.api.token)
    await visit.page.goto(`${site.origin}/domains`)
    await visit.page.waitForURL('**/login')
    await visit.context.addCookies([
      { name: 'token', value: site.api.token, url: neighbour.origin, sameSite: 'Strict' },
    ])
    await visit.page.goto(`${site.origin}/domains`)
    await visit.page.waitForURL('**/login')
  })
})

describe('both halves', () => {
  it('are available after a reload, in a second tab and behind a deep link, and removed by signing out', async () => {
    const visit = await signIn('/domains')
    const { page } = visit
    await page.reload()
    await heading(page, 'Domains').waitFor()
    const second = await visit.context.newPage()
    await second.goto(`${site.origin}/nodes?type=gateways`)
    await heading(second, 'Client / Nodes').waitFor()
    visit.expectNoComplaints()
    const key = await page.evaluate(() => localStorage.getItem('session-key'))
    expect(key).toMatch(/^[0-9a-f]{64}$/)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL('**/login')
    await expect.poll(() => visit.context.cookies()).toEqual([])
    await expect.poll(() => page.evaluate(() => localStorage.getItem('session-key'))).not.toBe(key)
    // The second tab notices on its own; an earlier reload would hide that.
    await second.waitForURL('**/login')
    await second.goto(`${site.origin}/nodes`)
    await second.waitForURL('**/login')
  })
})

describe('the address of a stream', () => {
  it('holds a ticket and never the session, and survives a restart of the server', async () => {
    const addresses: string[] = []
    const visit = await signIn('/nodes', (page) => {
      page.on('request', (request) => void addresses.push(request.url()))
    })
    const { page } = visit
    visit.forgive(/401|ERR_|stream was lost|Failed to load|50\d/)
    const streams = () => addresses.filter((address) => address.includes('/stream?'))
    await expect.poll(() => streams().length).toBeGreaterThan(0)
    await site.stopServer()
    const before = streams().length
    await site.startServer()
    await site.api.createNode({ name: 'after the restart' })
    await page.getByRole('row').filter({ hasText: 'after the restart' }).waitFor()
    expect(streams().length).toBeGreaterThan(before)
    expect(page.url()).toContain('/nodes')
    const key = await page.evaluate(() => localStorage.getItem('session-key'))
    for (const address of streams()) expect(address).toMatch(/[?&]token=ptt_[\w-]{59}$/)
    for (const address of addresses) {
      expect(address).not.toContain('pts_')
      expect(address).not.toContain(key)
    }
  })

  it('is there for the file of a node neither: that comes by headers', async () => {
    const { id } = await site.api.createNode({ name: 'with a file' })
    const addresses: string[] = []
    const { page } = await signIn(`/nodes/${id}`, (page) => {
      page.on('request', (request) => void addresses.push(request.url()))
    })
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Actions' }).first().click()
    await page.getByRole('menuitem', { name: 'Download Config' }).click()
    expect((await saved).suggestedFilename()).toBe('postern-with-a-file.conf')
    expect(addresses.filter((address) => address.includes('/download'))).toEqual([
      `${site.origin}/api/nodes/${id}/download`,
    ])
  })
})
