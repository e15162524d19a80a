import { shared } from '@postern/testkit/shared'
import { describe, it } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite } from '../harness.ts'

const site = shared(() => startSite({ POSTERN_SPONSOR_URL: 'https://sponsor.example.com/' }))

describe('signing in', () => {
  it('opens the page that was asked for, with its query', async () => {
    const visit = await site.open('/nodes?type=gateways', { signedIn: false })
    const { page } = visit
    await page.waitForURL('**/login')
    await visit.expectAccessible()
    await page.getByLabel(label('Username')).fill('admin')
    await page.getByLabel(label('Password')).fill(site.password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.waitForURL('**/nodes?type=gateways')
    await page.getByRole('heading', { name: 'Client / Nodes' }).waitFor()
    const [cookie] = await visit.context.cookies()
    expect(cookie).toMatchObject({ name: 'token', path: '/', sameSite: 'Strict', secure: false })
  })

  it('leads a person who forgot the password to how root sets a new one', async () => {
    const visit = await site.open('/login', { signedIn: false })
    const link = visit.page.getByRole('link', { name: 'Forgot your password?' })
    const [docs] = await Promise.all([visit.context.waitForEvent('page'), link.click()])
    await expect(docs.locator(':target')).toHaveText('A forgotten password')
  })

  it('says that the credentials are wrong, in an alert that can be closed', async () => {
    const visit = await site.open('/login', { signedIn: false })
    const { page } = visit
    visit.forgive(/401|Signing in failed/)
    await page.getByLabel(label('Username')).fill('admin')
    await page.getByLabel(label('Password')).fill('not the password')
    await page.keyboard.press('Enter')
    const alert = page.getByRole('alert').filter({ hasText: 'Invalid Credentials' })
    await alert.waitFor()
    await visit.expectAccessible()
    await alert.getByRole('button').click()
    await alert.waitFor({ state: 'detached' })
    await expect(page.getByLabel(label('Username'))).toHaveValue('admin')
  })

  it('names both fields when they are empty, and sends nothing', async () => {
    const { page } = await site.open('/login', { signedIn: false })
    const calls: string[] = []
    page.on('request', (request) => void (request.method() === 'POST' && calls.push(request.url())))
    await page.getByLabel(label('Username')).focus()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await expect(page.locator('[aria-invalid]')).toHaveCount(0)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('This field is required').first().waitFor()
    await expect(page.getByText('This field is required')).toHaveCount(2)
    expect(calls).toEqual([])
  })

  it('says that there were too many attempts', async () => {
    const { page, forgive } = await site.open('/login', { signedIn: false })
    forgive(/401|429|Signing in failed/)
    await page.getByLabel(label('Username')).fill('nobody')
    for (let attempt = 0; attempt < 6; attempt++) {
      await page.getByLabel(label('Password')).fill(`wrong ${attempt}`)
      const answered = page.waitForResponse('**/api/auth/login')
      await page.keyboard.press('Enter')
      await answered
    }
    await page.getByText('Too many attempts, try again later').waitFor()
  })
})

describe('a session', () => {
  it('sends a signed-in visitor of the login page home', async () => {
    const visit = await site.open('/login')
    await visit.page.waitForURL(`${site.origin}/`)
  })

  it('ends on the server when the person signs out, and remembers the page', async () => {
    const { api, origin } = site
    const login = await api.call('POST', '/api/auth/login', { username: 'admin', password: site.password })
    const { token } = login.json as { token: string }
    const visit = await site.open('/login', { signedIn: false })
    await visit.context.addCookies([{ name: 'token', value: token, url: origin, sameSite: 'Strict' }])
    // Requests of the page that were still under way.
    visit.forgive(/401|Failed to load|The stream was lost/)
    const { page } = visit
    await page.goto(`${origin}/domains`)
    await page.getByRole('heading', { name: 'Domains', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL('**/login')
    await expect(page.getByText('Your session has ended.')).toHaveCount(0)
    await expect.poll(() => visit.context.cookies()).toEqual([])
    const answer = await fetch(`${origin}/api/auth/me`, { headers: { authorization: `Bearer ${token}` } })
    expect(answer.status).toBe(401)
    await page.getByLabel(label('Username')).fill('admin')
    await page.getByLabel(label('Password')).fill(site.password)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/domains')
  })

  it('that ends says so at the login, and what was typed is restored afterwards', async () => {
    const { api, origin } = site
    const node = await api.createNode({ name: 'edited' })
    const login = await api.call('POST', '/api/auth/login', { username: 'admin', password: site.password })
    const { token } = login.json as { token: string }
    const visit = await site.open('/login', { signedIn: false })
    const { page } = visit
    visit.forgive(/401|Failed to load|The form was not saved|The stream was lost/)
    await visit.context.addCookies([{ name: 'token', value: token, url: origin, sameSite: 'Strict' }])
    await page.goto(`${origin}/nodes/${node.id}`)
    await page.getByRole('button', { name: 'Actions', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Edit Node' }).click()
    const form = page.getByRole('dialog', { name: 'Client / Node Configuration: edited' })
    await form.getByLabel(label('Name')).fill('typed before the end')
    await form.getByLabel('Act as a network gateway').check()
    await form.getByRole('textbox', { name: 'Subnet 1' }).fill('192.168.44.0/24')
    await fetch(`${origin}/api/auth/logout`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    })
    await form.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL('**/login')
    await page.getByRole('status').getByText('Your session has ended.').waitFor()
    await page.getByText('Your unsaved changes are kept.').waitFor()
    await visit.expectAccessible()
    await page.getByLabel(label('Username')).fill('admin')
    await page.getByLabel(label('Password')).fill(site.password)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/nodes/${node.id}`)
    await expect(form.getByLabel(label('Name'))).toHaveValue('typed before the end')
    await expect(form.getByRole('textbox', { name: 'Subnet 1' })).toHaveValue('192.168.44.0/24')
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'typed before the end' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'typed before the end' }).waitFor()
    await expect(page.getByRole('dialog')).toHaveCount(0)
  })

  it('that the server no longer knows leads to the login page', async () => {
    const visit = await site.open('/login', { signedIn: false })
    visit.forgive(/401|Failed to load/)
    await visit.context.addCookies([{ name: 'token', value: 'gone', url: site.origin, sameSite: 'Strict' }])
    await visit.page.goto(`${site.origin}/nodes`)
    await visit.page.waitForURL('**/login')
  })
})

describe('the shell', () => {
  it('shows the not-found page inside the layout when signed in, and bare when signed out', async () => {
    for (const signedIn of [true, false]) {
      const visit = await site.open('/no/such/page', { signedIn })
      const { page } = visit
      await page.getByRole('heading', { name: "Hmm...this page doesn't exist." }).waitFor()
      await page.getByText('Try searching for something else!').waitFor()
      await expect(page.getByRole('navigation', { name: 'Main' })).toHaveCount(signedIn ? 1 : 0)
      await visit.expectAccessible()
      await page.goto(`${site.origin}/nodes/1/ftp/1/logs`)
      if (signedIn) await page.getByRole('heading', { name: "Hmm...this page doesn't exist." }).waitFor()
      else await page.waitForURL('**/login')
      await page.goto(`${site.origin}/no/such/page`)
      await page.getByRole('link', { name: 'Back To Home' }).click()
      await page.waitForURL(signedIn ? `${site.origin}/` : '**/login')
    }
  })

  it('goes through the three colour schemes and remembers the choice', async () => {
    const { page } = await site.open('/')
    const html = page.locator('html')
    const toggle = page.getByRole('button', { name: /Colour scheme/ })
    await expect(toggle.locator('.lucide-monitor')).toHaveCount(1)
    for (const scheme of ['light', 'dark', 'system', 'light']) {
      await toggle.click()
      await expect(toggle).toHaveAccessibleName(new RegExp(`${scheme}$`))
      if (scheme === 'system') await expect(html).not.toHaveAttribute('data-theme')
      else await expect(html).toHaveAttribute('data-theme', scheme)
    }
    await page.reload()
    await expect(html).toHaveAttribute('data-theme', 'light')
  })

  it('remembers that the sidebar is collapsed', async () => {
    const { page } = await site.open('/')
    await page.getByRole('button', { name: 'Collapse sidebar' }).click()
    await expect.poll(() => page.evaluate(() => localStorage.getItem('sidebar-expanded'))).toBe('false')
    await page.reload()
    await page.getByRole('button', { name: 'Expand sidebar' }).waitFor()
  })

  it('has no dead link: every link of its own pages answers', async () => {
    const { page } = await site.open('/')
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    // Icons are described by the console's own tooltips, not the browser's.
    await page.getByRole('button', { name: 'Sign out' }).hover()
    await page.locator('.tooltip').getByText('Sign out').waitFor()
    await expect(page.locator('.btn[title]')).toHaveCount(0)
    await page.getByRole('button', { name: 'Help' }).click()
    const sponsor = page.getByRole('menuitem', { name: 'Sponsor' })
    await expect(sponsor).toHaveAttribute('href', 'https://sponsor.example.com/')
    await expect(page.getByRole('menuitem', { name: 'Contact us' })).toHaveAttribute('href', '/docs/contact')
    const links = await page
      .locator('a[href]')
      .evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href))
    const own = [...new Set(links)].filter((link) => link.startsWith(site.origin))
    expect(own.length).toBeGreaterThan(3)
    for (const link of own) expect([link, (await fetch(link)).status]).toEqual([link, 200])
  })
})
