import { agentOn } from '@postern/testkit/agent'
import { type FarEdge, startFarEdge, WITH_CONTROL } from '@postern/testkit/far-edge'
import { type Host, startLab } from '@postern/testkit/lab/network'
import { startEcho } from '@postern/testkit/lab/upstreams'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { beforeAll, describe, expect, it } from 'vitest'
import { SITE, type SignInLab, seen, startSignInLab } from '../sign-in/sign-in-lab.ts'
import { passIssuer } from '../sign-in/sign-in-steps.ts'

const FAR = '203.0.113.10'
const PORT = 9000

let node: Host
const lab = shared(startLab)
/** Its browser finds services at the edge elsewhere, and comes back from the provider to the one beside the server. */
const signIns: SignInLab = shared(() => startSignInLab(lab, { settings: WITH_CONTROL, edge: FAR }))
const far: FarEdge = shared(() => startFarEdge(signIns.installation, lab.site, { name: 'Frankfurt' }))

beforeAll(async () => {
  const { installation } = signIns
  const { api, dataDir } = installation
  node = await lab.plugIn('node', 20)
  await startEcho(node, `${dataDir}/upstreams`, PORT)
  const { id, token } = await api.createNode({ name: 'node' })
  await api.createDomain({ domain: 'open.example.com' })
  await api.publish(id, { name: 'open', domain: 'open.example.com', backendPort: PORT })
  await api.publish(id, {
    ...{
      name: 'guarded',
      domain: 'app.example.com',
      pathLocation: '/far',
      backendPort: PORT,
      requireAuth: true,
    },
  })
  expect(far.id).toBeGreaterThan(1)
  await agentOn(node, installation).connect(token, '--dns')
})

const open = (server: string) => visit(lab.visitor, 'https://open.example.com/hello', { server })

it.each([
  ['the edge beside the server', '203.0.113.1'],
  ['the edge elsewhere', FAR],
])('a service answers at %s, and sees the visitor', async (_, server) => {
  const answer = await until('the service', async () => {
    const found = await open(server)
    return found.status === 200 ? found : undefined
  })
  expect(JSON.parse(answer.body)).toMatchObject({ headers: { 'x-forwarded-for': lab.visitor.address } })
})

describe('at an edge that does not serve the console', () => {
  it('a sign-in begins and ends well, though the provider sends the visitor to another edge in between', async () => {
    const page = await signIns.newVisitor()
    await page.goto(`${SITE}/far/page`)
    await passIssuer(page, 'ann')
    await page.waitForURL(`${SITE}/far/page`)
    expect(await seen(page)).toMatchObject({ headers: { 'x-auth-request-email': 'ann@example.com' } })
    await page.context().close()
  })

  it('the session is good at the other edge, too', async () => {
    const page = await signIns.newVisitor()
    await signIns.signIn(page, '/far/page')
    await page.waitForURL(`${SITE}/far/page`)
    const cookies = await page.context().cookies(SITE)
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
    const args = ['-H', `Cookie: ${cookie}`]
    for (const server of ['203.0.113.1', FAR])
      expect((await visit(lab.visitor, `${SITE}/far/page`, { server, args })).status).toBe(200)
    expect((await visit(lab.visitor, `${SITE}/far/page`, { server: FAR })).status).toBe(401)
    await page.context().close()
  })

  it('the console is not there, and the page says so', async () => {
    for (const path of ['/', '/login', '/api/health', '/api/agent/config', '/install/ca.crt']) {
      const answer = await visit(lab.visitor, `https://203.0.113.1${path}`, {
        args: ['--connect-to', `::${FAR}:`],
      })
      expect([path, answer.status]).toEqual([path, 421])
    }
  })
})

it('services at the edge elsewhere go on while the server is away', async () => {
  await signIns.installation.server.stop()
  for (let visits = 0; visits < 10; visits++) expect((await open(FAR)).status).toBe(200)
  await signIns.installation.startServer()
})
