import type { Domain } from '@postern/contract/domains'
import { MESSAGES } from '@postern/contract/messages'
import type { HttpService } from '@postern/contract/services/services'
import { letIn } from '@postern/testkit/people'
import { type Client, startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { beforeEach, describe, expect, it } from 'vitest'

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
