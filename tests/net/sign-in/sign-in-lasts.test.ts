import { startLab } from '@postern/testkit/lab/network'
import { rotateAll } from '@postern/testkit/rotate-all'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { expect, test } from 'vitest'
import { CALLBACK, SITE, seen, startSignInLab } from './sign-in-lab.ts'
import { ISSUER, passIssuer } from './sign-in-steps.ts'

/** How long a visitor who has signed in stays so, whatever changes meanwhile. */
const lab = shared(startLab)
const at = shared(() => startSignInLab(lab))

test('an e-mail removed from the list loses access, including an open WebSocket', async () => {
  const page = await at.newVisitor()
  await at.signIn(page, '/')
  await page.waitForURL(`${SITE}/`)
  await page.evaluate(() => {
    const socket = new WebSocket('wss://app.example.com/socket')
    return new Promise((resolve, reject) => {
      socket.onopen = resolve
      socket.onerror = reject
      socket.onclose = () => document.body.setAttribute('data-closed', String(Date.now()))
    })
  })
  const before = Date.now()
  await at.allow('bob@example.com')
  await page.locator('body[data-closed]').waitFor()
  // A second on an idle machine; five are promised.
  expect(Date.now() - before).toBeLessThan(25_000)
  expect(await at.ask('/', page)).toBe(401)
  await at.allow('ann@example.com')
  await at.isLive()
  expect(await at.ask('/', page)).toBe(401)
  await page.context().close()
}, 120_000)

test('a renamed domain answers at its new name alone, where no session of the old one counts', async () => {
  const { api } = at.installation
  const page = await at.newVisitor()
  await at.signIn(page, '/')
  await page.waitForURL(`${SITE}/`)
  const cookies = await page.context().cookies(SITE)
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const answerOf = async (host: string, path: string) => {
    const place = ['--resolve', `${host}:443:203.0.113.1`, `https://${host}${path}`]
    const output = ['-o', '/dev/null', '-w', '%{http_code} %{certs}', '-sk', '-H', `Cookie: ${cookie}`]
    const { stdout } = await lab.server.run('curl', ...output, ...place)
    return { status: Number(stdout.slice(0, 3)), hasName: stdout.includes(`DNS:${host}`) }
  }
  expect(await answerOf('app.example.com', '/')).toEqual({ status: 200, hasName: true })
  const rename = async (domain: string) => {
    expect((await api.call('PATCH', `/api/domains/${at.domainId}`, { domain })).status).toBe(200)
    await at.isLive()
  }
  await rename('new.example.com')
  expect(await answerOf('new.example.com', '/open')).toEqual({ status: 200, hasName: true })
  expect(await answerOf('new.example.com', '/')).toEqual({ status: 401, hasName: true })
  const old = await answerOf('app.example.com', '/open')
  expect(old.hasName).toBe(false)
  expect(old.status).not.toBe(200)
  // Nor does it count again when the name is changed back.
  await rename('app.example.com')
  expect(await answerOf('app.example.com', '/')).toEqual({ status: 401, hasName: true })
  await page.context().close()
}, 120_000)

test('signed-in visitors can continue while server and edge are down', async () => {
  const page = await at.newVisitor()
  await at.signIn(page, '/')
  await page.waitForURL(`${SITE}/`)
  await Promise.all([at.installation.server.stop(), at.installation.edge.stop()])
  await page.goto(`${SITE}/still`)
  expect((await seen(page)).headers).toMatchObject({ 'remote-user': 'ann@example.com' })
  const again = (await seen(page)).headers['x-postern-identity']
  expect(await at.verify(again)).toMatchObject({ sub: 'ann@example.com' })
  const stranger = await at.newVisitor()
  expect(await at.ask('/')).toBe(401)
  expect((await stranger.goto(`${SITE}/`))?.status()).toBe(503)
  await at.installation.startServer()
  at.installation.startEdge()
  await at.isLive()
  // The keys are the previous ones.
  await page.goto(`${SITE}/again`)
  expect((await seen(page)).url).toBe('/again')
  for (const each of [page, stranger]) await each.context().close()
}, 180_000)

test('a visitor who is at the provider while the server restarts comes in', async () => {
  const page = await at.newVisitor()
  await page.goto(`${SITE}/during`)
  await page.waitForURL(`${ISSUER}/**`)
  await at.installation.server.stop()
  await at.installation.startServer()
  await at.isLive()
  await passIssuer(page, 'ann')
  await page.waitForURL(`${SITE}/during`)
  expect((await seen(page)).headers).toMatchObject({ 'remote-user': 'ann@example.com' })
  await page.context().close()
}, 180_000)

test('after rotate-key --all neither a previous session nor what was under way opens anything, and visitors sign in again', async () => {
  const page = await at.newVisitor()
  const during = await at.newVisitor()
  await during.goto(`${SITE}/during`)
  await during.waitForURL(`${ISSUER}/**`)
  await at.signIn(page, '/before')
  await page.waitForURL(`${SITE}/before`)
  expect(await at.ask('/', page)).toBe(200)
  await rotateAll(lab.server, at.installation)
  await until('the next keys', async () => (await at.ask('/', page)) === 401)
  await passIssuer(during, 'ann')
  await during.waitForURL(`${CALLBACK}**`)
  expect(await during.locator('body').innerText()).toContain('This sign-in is over')
  expect(await at.ask('/', during)).toBe(401)
  const next = await at.newVisitor()
  await at.signIn(next, '/after')
  await next.waitForURL(`${SITE}/after`)
  for (const each of [page, during, next]) await each.context().close()
}, 180_000)
