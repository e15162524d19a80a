import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import type { InvitedPerson } from '@postern/contract/people/people'
import type { HttpService } from '@postern/contract/services/services'
import { SESSION_KEY_HEADER } from '@postern/contract/sign-in/auth'
import { startInstallation } from '@postern/testkit/installation'
import { type Host, startLab } from '@postern/testkit/lab/network'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { expect as expectOfPage } from '../../e2e/expect.ts'
import { label } from '../../e2e/harness.ts'

const CONSOLE = 'https://203.0.113.1'
const [KEY, OTHER] = ['00112233'.repeat(8), '44556677'.repeat(8)]

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))
const browser = shared(() => startBrowser(lab.visitor))

async function startBrowser(host: Host): Promise<Browser> {
  const wrapper = `${installation.dataDir}/chromium-${host.name}`
  writeFileSync(wrapper, `#!/bin/sh\nexec ${host.argv('/usr/bin/chromium').join(' ')} "$@"\n`)
  chmodSync(wrapper, 0o755)
  return await chromium.launch({ executablePath: wrapper, args: ['--no-sandbox', '--disable-gpu'] })
}

const headerArgs = (headers: Record<string, string>) =>
  Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])

/** @returns the status that a visitor's host gets with this credential */
async function ask(headers: Record<string, string>, path = '/api/auth/me'): Promise<number> {
  return (await visit(lab.visitor, CONSOLE + path, { args: headerArgs(headers) })).status
}

async function signIn(headers: Record<string, string>): Promise<string> {
  const { POSTERN_ADMIN_PASSWORD: password } = installation.env
  const body = ['--json', JSON.stringify({ username: 'admin', password })]
  const answer = await visit(lab.visitor, `${CONSOLE}/api/auth/login`, {
    args: [...body, ...headerArgs(headers)],
  })
  expect(answer.status).toBe(200)
  return JSON.parse(answer.body).token
}

/** The console in a browser at a visitor's host, signed in. */
async function openConsole() {
  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  const page = await newPage(context)
  await signInAt(page, CONSOLE)
  return { context, page }
}

async function newPage(context: BrowserContext): Promise<Page> {
  const page = await context.newPage()
  page.setDefaultTimeout(45_000)
  return page
}

async function signInAt(page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/nodes`)
  await page.waitForURL('**/login')
  await page.getByLabel(label('Username')).fill('admin')
  await expectOfPage(page.getByText('Your session has ended.')).toHaveCount(0)
  await page.getByLabel(label('Password')).fill(installation.env.POSTERN_ADMIN_PASSWORD ?? '')
  await page.keyboard.press('Enter')
  await isSignedIn(page)
}

const isSignedIn = (page: Page) =>
  page.getByRole('heading', { name: 'Client / Nodes', exact: true }).waitFor()

/** Every way in which a token alone could be sent. */
async function expectOneHalfIsNothing(token: string): Promise<void> {
  const carriers: Record<string, string>[] = [
    { authorization: `Bearer ${token}` },
    { cookie: `token=${token}` },
  ]
  for (const carrier of carriers) {
    expect(await ask(carrier)).toBe(401)
    expect(await ask({ ...carrier, [SESSION_KEY_HEADER]: OTHER })).toBe(401)
    expect(await ask(carrier, '/api/nodes')).toBe(401)
    expect(await ask(carrier, `/api/nodes/stream?token=${token}`)).toBe(401)
  }
}

test("the edge's token opens nothing from outside, however it is sent", async () => {
  const token = readFileSync(installation.paths.edgeToken, 'utf8').trim()
  const authorization = { authorization: `Bearer ${token}` }
  const upgrade = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  const socket = { ...upgrade, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' }
  const state = [...headerArgs(authorization), '--json', '{"known":{}}']
  for (const version of ['--http1.1', '--http2']) {
    const url = `${CONSOLE}/api/edge/state`
    const answer = await visit(lab.visitor, url, { args: [version, ...state] })
    expect(answer.status).toBe(401)
    expect(answer.body).not.toContain('PRIVATE KEY')
  }
  expect(await ask({ ...authorization, ...socket }, '/api/edge/socket')).toBe(401)
  const direct = [...state, '--unix-socket', installation.paths.serverSocket]
  expect(
    JSON.parse(await lab.server.must('curl', '-s', ...direct, 'http://localhost/api/edge/state')),
  ).toHaveProperty('sections')
})

describe('at the public address', () => {
  test.each(['--http1.1', '--http2'])('a sign-in with a key makes a bound session (%s)', async (version) => {
    const token = await signIn({ [SESSION_KEY_HEADER]: KEY })
    await expectOneHalfIsNothing(token)
    const both = [version, ...headerArgs({ authorization: `Bearer ${token}`, [SESSION_KEY_HEADER]: KEY })]
    const written = await visit(lab.visitor, `${CONSOLE}/api/nodes`, {
      args: [...both, '--json', JSON.stringify({ name: `over ${version.slice(2)}` })],
    })
    expect(written.status).toBe(201)
    expect((await visit(lab.visitor, `${CONSOLE}/api/auth/me`, { args: both })).status).toBe(200)
  })

  test('a client without a key gets a session that accepts none', async () => {
    const authorization = `Bearer ${await signIn({})}`
    expect(await ask({ authorization })).toBe(200)
    expect(await ask({ authorization, [SESSION_KEY_HEADER]: KEY })).toBe(401)
  })

  test('a page of another site changes nothing and reads nothing', async () => {
    const unbound = await signIn({})
    const cookie = { cookie: `token=${unbound}` }
    expect(await ask(cookie)).toBe(200)
    for (const site of ['cross-site', 'same-site'])
      expect(await ask({ ...cookie, 'sec-fetch-site': site, origin: 'https://evil.example' })).toBe(401)
    const args = [...headerArgs(cookie), '--json', '{"name":"forged"}']
    expect((await visit(lab.visitor, `${CONSOLE}/api/nodes`, { args })).status).toBe(401)
  })

  test('the half of a session that a browser keeps in its cookie opens nothing', async () => {
    const { context, page } = await openConsole()
    await page.reload()
    await page.getByRole('heading', { name: 'Client / Nodes', exact: true }).waitFor()
    const cookies = await context.cookies(CONSOLE)
    const token = cookies.find(({ name }) => name === 'token')?.value ?? ''
    expect(token).toMatch(/^pts_/)
    await expectOneHalfIsNothing(token)
    await context.close()
  })
})

test('a person comes in by a link, once, and who is disabled is out within two seconds', async () => {
  const { api } = installation
  const invited = await api.call('POST', '/api/people', { username: 'ann', role: 'viewer' })
  const { id, token } = invited.json as InvitedPerson
  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  const page = await newPage(context)
  await page.goto(`${CONSOLE}/invite#${token}`)
  await page.getByLabel(label('New Password')).fill('long enough 1')
  await page.getByLabel(label('The Same Again')).fill('long enough 1')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${CONSOLE}/`)
  await page.goto(`${CONSOLE}/nodes`)
  await isSignedIn(page)
  const again = await visit(lab.visitor, `${CONSOLE}/api/invites/read`, {
    args: ['--json', JSON.stringify({ token })],
  })
  expect(again.status).toBe(404)
  await page.waitForFunction(() => document.querySelector('.sync') !== null)
  const begun = Date.now()
  await api.call('PATCH', `/api/people/${id}/disable`, {})
  await page.waitForURL('**/login')
  // Two seconds are promised; a busy machine gets five times that.
  expect(Date.now() - begun).toBeLessThan(10_000)
  await context.close()
})

test('a person with limits sees nothing beyond them at the public address', async () => {
  const { api } = installation
  const own = await api.createNode({ name: 'own-site' })
  const other = await api.createNode({ name: 'hidden-site' })
  const publish = (node: number, name: string) =>
    api.publish(node, { name, domain: `${name}.example.com`, skipValidation: true })
  await publish(own.id, 'own-service')
  await publish(other.id, 'hidden-service')
  const reach = { nodes: [own.id], domains: [] }
  const invited = await api.call('POST', '/api/people', { username: 'bob', role: 'editor', reach })
  const { token } = invited.json as InvitedPerson
  const accepted = await visit(lab.visitor, `${CONSOLE}/api/invites/accept`, {
    args: ['--json', JSON.stringify({ token, password: 'long enough 1' })],
  })
  const { login } = JSON.parse(accepted.body)
  const look = async (path: string) => {
    const args = ['-H', `authorization: Bearer ${login.token}`]
    return await visit(lab.visitor, `${CONSOLE}${path}`, { args })
  }
  expect((await look('/api/services')).body).toContain('own-service')
  const paths = ['/api/nodes', '/api/services', '/api/domains', '/api/find?text=site', '/api/overview']
  for (const path of [...paths, '/api/overview/attention', '/api/history', '/api/requests', '/api/edges']) {
    const answer = await look(path)
    expect(answer.status, path).toBe(200)
    expect(answer.body, path).not.toContain('hidden-')
  }
  expect((await look(`/api/nodes/${other.id}`)).status).toBe(404)
  expect((await look('/api/settings')).status).toBe(403)
  for (const { id } of [own, other]) await api.call('DELETE', `/api/nodes/${id}`)
})

test('a session ends when the console leaves the name at which it began', async () => {
  const { api } = installation
  const all = (await api.call('GET', '/api/services/http')).json as HttpService[]
  const console = all.find(({ system }) => system)
  const move = (domain: string | null) =>
    api.call('PATCH', `/api/services/${console?.nodeId}/http/${console?.id}`, {
      domain,
      skipValidation: true,
    })
  const name = 'console.example.com'
  expect((await move(name)).status).toBe(200)
  const { POSTERN_ADMIN_PASSWORD: password } = installation.env
  const login = ['--json', JSON.stringify({ username: 'admin', password })]
  const { token } = await until('a session', async () => {
    const answer = await visit(lab.visitor, `https://${name}/api/auth/login`, { args: login })
    return answer.status === 200 ? JSON.parse(answer.body) : undefined
  })
  const authorization = `Bearer ${token}`
  expect(await ask({ authorization })).toBe(200)
  await move(null)
  await until('it to end', async () => (await ask({ authorization })) === 401)
  const form = { name: 'next', domain: name, backendPort: 80, skipValidation: true }
  expect((await api.call('POST', '/api/services/1/http', { ...form, backendHost: '127.0.0.1' })).status).toBe(
    422,
  )
})

describe('on the server itself, where the console is at one host by http and by https', () => {
  const local = shared(() => startBrowser(lab.server))

  const signOut = async (page: Page) => {
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL('**/login')
  }
  const staysSignedIn = async (page: Page) => {
    await page.reload()
    await isSignedIn(page)
  }

  test.each([
    ['http://127.0.0.1:3000', 'https://127.0.0.1'],
    ['https://127.0.0.1', 'http://127.0.0.1:3000'],
  ])('there are two sessions, also with %s first', async (firstOrigin, secondOrigin) => {
    const context = await local.newContext({ ignoreHTTPSErrors: true })
    const [first, second] = [await newPage(context), await newPage(context)]
    await signInAt(first, firstOrigin)
    await signInAt(second, secondOrigin)
    for (const page of [first, second]) await staysSignedIn(page)
    await signOut(second)
    await staysSignedIn(first)
    await signInAt(second, secondOrigin)
    await signOut(first)
    await staysSignedIn(second)
    await signOut(second)
    await expectOfPage.poll(() => context.cookies()).toEqual([])
    await context.close()
  })
})

describe('with 300 services that have a problem', () => {
  let token: string
  let nodeId: number

  beforeAll(async () => {
    const { api } = installation
    nodeId = 1
    const domain = 'many.example.com'
    for (let row = 0; row < 300; row++)
      await api.publish(nodeId, {
        name: `service ${row}`,
        domain,
        pathLocation: `/s${row}`,
        // Nothing listens there.
        backendHost: '127.0.0.1',
        backendPort: 1,
      })
    token = await signIn({})
    const isTold = async () => (await api.call('GET', '/api/overview/attention')).text.includes('service 299')
    await until('the services to need attention', isTold, { everyMs: 500 })
  })

  test.each(['--http1.1', '--http2'])("the console's data is compressed (%s)", async (version) => {
    for (const path of ['/api/services/http', '/api/overview/attention']) {
      const plain = await read(version, 'identity', token, path)
      expect(plain).toMatchObject({ status: 200, encoding: undefined })
      for (const encoding of ['br', 'gzip']) {
        const small = await read(version, encoding, token, path)
        console.info(`${path} (${version}): ${plain.bytes} bytes, ${small.bytes} as ${encoding}`)
        expect(small).toMatchObject({ status: 200, encoding })
        // Its content may have changed since.
        expect(JSON.parse(small.text)).toHaveLength(JSON.parse(plain.text).length)
        expect(small.bytes).toBeLessThan(plain.bytes / 3)
      }
    }
  })

  test('an untouched page requests almost nothing', async () => {
    const { context, page: home } = await openConsole()
    const node = await context.newPage()
    await Promise.all([home.goto(CONSOLE), node.goto(`${CONSOLE}/nodes/${nodeId}`)])
    await Promise.all([expectQuiet(home), expectQuiet(node)])
    await context.close()
  })
})

/** The bytes on the wire for a client that accepts one encoding, and the decoded text. */
async function read(version: string, encoding: string, token: string, path: string) {
  const headers = headerArgs({ authorization: `Bearer ${token}`, 'accept-encoding': encoding })
  const { status, ...answer } = await visit(lab.visitor, CONSOLE + path, {
    args: [version, '--compressed', ...headers, '-w', '\n%{size_download}'],
  })
  const end = answer.body.lastIndexOf('\n')
  return {
    status,
    encoding: /^content-encoding: (\S+)/im.exec(answer.headers)?.[1],
    bytes: Number(answer.body.slice(end)),
    text: answer.body.slice(0, end),
  }
}

/** The aim is 1 kB a minute, the heartbeats of the streams; this is five times that. */
const IDLE = { ms: 8_000, bytes: (5 * 1000 * 8) / 60 }

async function expectQuiet(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  let bytes = 0
  session.on('Network.dataReceived', ({ dataLength }) => {
    bytes += dataLength
  })
  await page.getByRole('heading').first().waitFor()
  // A page that is still loading, or has just received news from the edge, is quiet in a later sample.
  const look = async () => {
    bytes = 0
    await page.waitForTimeout(IDLE.ms)
    console.info(`${new URL(page.url()).pathname}: ${bytes} bytes in ${IDLE.ms} ms`)
    expect(bytes).toBeLessThan(IDLE.bytes)
  }
  await vi.waitFor(look, { timeout: 60_000 })
}
