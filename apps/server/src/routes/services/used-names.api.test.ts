import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Domain } from '@postern/contract/domains'
import { MESSAGES } from '@postern/contract/messages'
import { TEST_ADMIN } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { describe, expect, it } from 'vitest'
import { refusal, startPublishingLab, web } from '../../../test/publishing-lab.ts'

const lab = fresh(() => startPublishingLab({ POSTERN_PUBLIC_HOST: 'postern.example.com' }))
const NAME = 'ops.example.com'
const AGENTS = refusal('domain', /^was the address of the console/)

async function moveConsole(form: { domain: string | null; confirmUsedName?: boolean }) {
  const console = (await lab.list()).find(({ system }) => system)
  const url = `/api/services/${console?.nodeId}/http/${console?.id}`
  const answer = await lab.client.patch(url, form)
  return answer.statusCode === 200 ? 'moved' : answer.json().errors
}
const expose = async (form: object) => {
  const url = `/api/services/${lab.node.id}/http`
  const answer = await lab.client.post(url, { name: 'web', backendPort: 80, ...form })
  return answer.statusCode === 201 ? 'made' : answer.json().errors
}
async function findDomain(name: string): Promise<Domain | undefined> {
  const domains: Domain[] = (await lab.client.get('/api/domains')).json()
  return domains.find(({ domain }) => domain === name)
}
const rename = async (from: string, to: string) => {
  const answer = await lab.client.patch(`/api/domains/${(await findDomain(from))?.id}`, { domain: to })
  return answer.statusCode === 200 ? 'renamed' : answer.json().errors
}
const REFUSED = [{ field: 'domain', message: MESSAGES.namedConsole }]
const REFUSED_CONSOLE = [{ field: 'domain', message: MESSAGES.namedServices }]

describe('a name that services had, which may have left what acts in browsers,', () => {
  it('becomes the console’s only if a person confirms it', async () => {
    expect((await lab.publish([web('a', { domain: NAME, pathLocation: '/x' })]))[0]?.state).toBe('published')
    expect(await moveConsole({ domain: NAME })).toEqual(REFUSED_CONSOLE)
    await lab.publish([])
    expect(await findDomain(NAME)).toBeUndefined()
    expect(await moveConsole({ domain: NAME })).toEqual(REFUSED_CONSOLE)
    expect(await moveConsole({ domain: NAME, confirmUsedName: true })).toBe('moved')
    expect(await moveConsole({ domain: NAME })).toBe('moved')
  })

  it('is refused to the console by renaming as well', async () => {
    expect(await expose({ domain: NAME, pathLocation: '/x' })).toBe('made')
    expect(await rename(NAME, 'other.example.com')).toBe('renamed')
    expect(await moveConsole({ domain: 'console.example.com' })).toBe('moved')
    for (const used of [NAME, 'other.example.com'])
      expect(await moveConsole({ domain: used })).toEqual(REFUSED_CONSOLE)
    expect(await rename('console.example.com', NAME)).toEqual(REFUSED_CONSOLE)
    expect(await rename('console.example.com', 'new.example.com')).toBe('renamed')
  })
})

describe('a name that the console had, to which browsers and agents still send what opens it,', () => {
  const leaving = {
    left: async () => expect(await moveConsole({ domain: null })).toBe('moved'),
    renamed: async () => expect(await rename(NAME, 'admin.example.com')).toBe('renamed'),
    deleted: async () => {
      await moveConsole({ domain: null })
      await lab.client.delete(`/api/domains/${(await findDomain(NAME))?.id}`)
    },
  }
  it.each(Object.entries(leaving))(
    'goes to no agent, and to a service of people if they confirm it: %s',
    async (_, leave) => {
      await moveConsole({ domain: NAME })
      await leave()
      lab.server.now = Date.now() + 3 * 86_400_000
      const others = await lab.createNode('others', { agentDomains: [] })
      for (const from of [lab.node, others])
        expect(await lab.publish([web('a', { domain: NAME })], { from })).toMatchObject([AGENTS])
      expect(await expose({ domain: NAME, pathLocation: '/x' })).toEqual(REFUSED)
      expect(await expose({ domain: NAME, pathLocation: '/x', confirmUsedName: true })).toBe('made')
      expect(await expose({ name: 'more', domain: NAME, pathLocation: '/y' })).toEqual(REFUSED)
    },
  )

  it('is not left to services that share it, unless a person confirms that', async () => {
    await moveConsole({ domain: NAME })
    expect(await expose({ domain: NAME, pathLocation: '/x' })).toBe('made')
    const left = [{ field: 'domain', message: MESSAGES.leftServices }]
    for (const domain of [null, 'new.example.com']) expect(await moveConsole({ domain })).toEqual(left)
    expect(await rename(NAME, 'new.example.com')).toBe('renamed')
    expect(await moveConsole({ domain: null, confirmUsedName: true })).toBe('moved')
  })

  it('goes to no service with its domain', async () => {
    await moveConsole({ domain: NAME })
    await moveConsole({ domain: 'new.example.com' })
    const tls = { name: 'xmpp', domain: NAME, backendPort: 5222, ssl: true }
    const port = await lab.client.post(`/api/services/${lab.node.id}/tcp`, tls)
    expect(port.json().errors).toEqual([{ field: 'domain', message: MESSAGES.sharedCookies }])
    await lab.client.delete(`/api/domains/${(await findDomain(NAME))?.id}`)
    await expose({ domain: 'web.example.com' })
    expect(await rename('web.example.com', NAME)).toEqual(REFUSED)
  })

  it('and so the public host of before', async () => {
    await lab.server.restart({ settings: { POSTERN_PUBLIC_HOST: 'new.example.com' } })
    expect(await lab.publish([web('a', { domain: 'postern.example.com' })])).toMatchObject([AGENTS])
    expect(await expose({ domain: 'postern.example.com' })).toEqual(REFUSED)
  })
})

describe('a session', () => {
  /** As HAProxy hands a sign-in on. @returns what asks whether it still counts */
  async function signInAt(host: string) {
    const body = JSON.stringify(TEST_ADMIN)
    const headers = { host, 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.7' }
    const socketPath = lab.server.context.config.paths.serverSocket
    const asked = request({ socketPath, method: 'POST', path: '/api/auth/login', headers })
    asked.end(body)
    // An emitter's promise has no type of what it gives.
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    const { token } = JSON.parse(await text(answer))
    return async () => (await lab.server.as(token).get('/api/auth/me')).statusCode
  }
  const untilEnded = (ask: () => Promise<number>) => until('it to end', async () => (await ask()) === 401)

  it('ends when the name at which it began is the console’s no more, and no other session does', async () => {
    await lab.server.listenOnSocket()
    await moveConsole({ domain: NAME })
    const there = [await signInAt(NAME), await signInAt(`${NAME.toUpperCase()}:8443`)]
    const elsewhere = [await signInAt('postern.example.com'), await signInAt('[2001:db8::1]:8443')]
    expect(await expose({ domain: 'other.example.com' })).toBe('made')
    for (const ask of [...there, ...elsewhere]) expect(await ask()).toBe(200)
    await moveConsole({ domain: null })
    for (const ask of there) await untilEnded(ask)
    await moveConsole({ domain: NAME })
    for (const ask of there) expect(await ask()).toBe(401)
    for (const ask of elsewhere) expect(await ask()).toBe(200)
  })

  it('ends with another public host', async () => {
    await lab.server.listenOnSocket()
    const [there, elsewhere] = [await signInAt('postern.example.com'), await signInAt('203.0.113.1')]
    expect([await there(), await elsewhere()]).toEqual([200, 200])
    await lab.server.restart({ settings: { POSTERN_PUBLIC_HOST: 'new.example.com' } })
    expect([await there(), await elsewhere()]).toEqual([401, 200])
  })
})
