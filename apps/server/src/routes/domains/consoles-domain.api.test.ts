import type { Domain } from '@postern/contract/domains'
import { MESSAGES } from '@postern/contract/messages'
import type { HttpService } from '@postern/contract/services/services'
import { letIn } from '@postern/testkit/people'
import { type Client, startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'

const NAME = 'console.example.com'
const REFUSED = [{ field: 'domain', message: MESSAGES.consolesName }]

const server = fresh(startTestServer)
let admin: Client
let editor: Client
let domain: Domain
let node: number

const moveConsole = async (to: string) => {
  const services = (await admin.get('/api/services/http')).json<HttpService[]>()
  const own = services.find(({ system }) => system)
  return (await admin.patch(`/api/services/${own?.nodeId}/http/${own?.id}`, { domain: to })).statusCode
}

beforeEach(async () => {
  admin = await server.signIn()
  domain = await admin.createDomain({ domain: NAME, ssl: 'self-signed', skipValidation: true })
  expect(await moveConsole(NAME)).toBe(200)
  node = (await admin.createNode({ name: 'office' })).id
  editor = (await letIn(server, admin, { username: 'ed', role: 'editor', reach: null })).client
})

describe('the name at which the console answers is for administrators alone:', () => {
  const one = () => `/api/domains/${domain.id}`
  it.each([
    ['renames it', () => editor.patch(one(), { domain: 'gone.example.com', skipValidation: true })],
    ['opens it to others', () => editor.patch(one(), { authentication: false, allowedEmails: [] })],
    ['deletes it', () => editor.delete(one())],
    ['ends sessions there', () => editor.post(`${one()}/sign-ins/end`, { email: 'ann@example.com' })],
  ])('no editor %s', async (_, act) => {
    const refused = await act()
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'role'])
    const form = { action: 'delete', records: [{ id: domain.id }] }
    expect((await editor.post('/api/domains/many', form)).json().done).toEqual([])
    expect((await admin.get(one())).json()).toMatchObject({ domain: NAME })
  })

  it('no editor brings a program with TLS to a port of it', async () => {
    const form = { name: 'mine', domain: NAME, backendPort: 22, ssl: true, confirmSharedCookies: true }
    const refused = await editor.post(`/api/services/${node}/tcp`, form)
    expect(refused.json().errors).toEqual(REFUSED)
    expect((await admin.post(`/api/services/${node}/tcp`, form)).statusCode).toBe(201)
  })

  it('no editor gets it once the console has left, whatever they confirm', async () => {
    const next = { domain: 'next.example.com', ssl: 'self-signed', skipValidation: true } as const
    await admin.createDomain(next)
    expect(await moveConsole(next.domain)).toBe(200)
    const form = { name: 'mine', domain: NAME, backendPort: 80, confirmUsedName: true }
    const refused = await editor.post(`/api/services/${node}/http`, form)
    expect(refused.json().errors).toEqual(REFUSED)
    expect((await admin.post(`/api/services/${node}/http`, form)).statusCode).toBe(201)
  })
})

it('the console does not come to a name that a service got while the name was looked up', async () => {
  const looked = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const resolver = {
    async resolve() {
      begun.resolve()
      await looked.promise
      return ['203.0.113.1']
    },
  }
  const other = await startTestServer({ world: { resolver } })
  onTestFinished(() => other.close())
  const own = await other.signIn()
  const { id } = await own.createNode({ name: 'site' })
  const { client } = await letIn(other, own, { username: 'ed', role: 'editor', reach: null })
  const moving = own.patch('/api/settings', { POSTERN_PUBLIC_HOST: 'new.example.com' })
  await begun.promise
  const form = { domain: 'new.example.com', skipValidation: true, backendPort: 22, ssl: true, name: 't' }
  expect((await client.post(`/api/services/${id}/tcp`, form)).statusCode).toBe(201)
  looked.resolve()
  const refused = await moving
  expect([refused.statusCode, refused.json().errors?.[0]?.field]).toEqual([409, 'POSTERN_PUBLIC_HOST'])
  expect(other.context.config.publicHost).toBe('203.0.113.1')
})
