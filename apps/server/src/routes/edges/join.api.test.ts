import { X509Certificate } from 'node:crypto'
import type { Edge } from '@postern/contract/edge/edge'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import {
  addEdgeMachine,
  askControl,
  joinAs,
  joinForm,
  makeRequest,
  startServerForEdges,
} from '@postern/testkit/edge-machine'
import { fresh } from '@postern/testkit/shared'
import { expect, it, test } from 'vitest'
import { listEnds } from '../../core/edges/ends.ts'

const server = fresh(() => startServerForEdges())
const client = fresh(() => server.signIn())

const add = async (form: object = {}) =>
  (await client.post('/api/edges', { name: 'Frankfurt', ...form })).json()
const join = (form: object) =>
  server.call({ method: 'POST', url: endpoints.edgeJoin.path, payload: form, remoteAddress: '198.51.100.20' })
const edgeNamed = async (name: string): Promise<Edge> =>
  (await client.get('/api/edges')).json().find((edge: Edge) => edge.name === name)

it('makes a machine the edge of its token, and says all that it has to know', async () => {
  const { edge, join: made } = await add()
  const { csr } = await makeRequest()
  const joined = (await join(joinForm(made.token, csr))).json()
  expect(joined).toMatchObject({
    ...{ edgeId: edge.id, number: 2, name: 'Frankfurt' },
    servers: [{ name: 'server', url: `https://127.0.0.1:${server.controlPort}` }],
    known: { tunnelNetwork4: '10.64.0.0/16', publicHost: '203.0.113.1' },
  })
  expect(await edgeNamed('Frankfurt')).toMatchObject({
    ...{ isJoined: true, joinableUntil: null, host: '198.51.100.20' },
    certificateUntil: new X509Certificate(joined.certificate).validToDate.toISOString(),
  })
  const ends = await listEnds(server.context)
  expect(ends.map(({ number, endpoint, addresses }) => ({ number, endpoint, addresses }))).toEqual([
    { number: 1, endpoint: '203.0.113.1:51820', addresses: null },
    {
      ...{ number: 2, endpoint: '198.51.100.20:51820' },
      addresses: { address4: '10.64.255.2', address6: expect.stringMatching(/::a40:ff02$/) },
    },
  ])
  expect(ends[1]?.publicKey).not.toBe(ends[0]?.publicKey)
})

it('takes nothing of a request for a certificate but its key', async () => {
  const { edge, join: made } = await add()
  const { csr } = await makeRequest({ subject: 'CN=server.postern.internal' })
  const certificate = new X509Certificate((await join(joinForm(made.token, csr))).json().certificate)
  expect(certificate.subject).toBe(`CN=edge ${edge.id}`)
  expect(certificate.subjectAltName).toBe(`URI:postern:edge:${edge.id}`)
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2'])
  expect(certificate.ca).toBe(false)
  const days = (certificate.validToDate.getTime() - Date.now()) / 86_400_000
  expect(Math.round(days)).toBe(90)
})

it('refuses a request with another curve, without its own signature, or that is none, and keeps the token', async () => {
  const { join: made } = await add()
  const weak = await makeRequest({ curve: 'P-384' })
  const { csr } = await makeRequest()
  const [head = '', ...lines] = csr.split('\n')
  // A bit of the signature, which is last.
  const torn = [head, ...lines].join('\n').replace(/.{8}(=*\s+-----END)/, 'AAAAAAAA$1')
  const none = csr.replace(/\n[\s\S]+\n/, '\nAAAA\n')
  for (const wrong of [weak.csr, torn, none, 'x', `${csr}${'A'.repeat(5000)}`]) {
    const answer = await join(joinForm(made.token, wrong))
    expect([answer.statusCode, answer.json().errors?.[0]?.field]).toEqual([422, 'csr'])
  }
  expect((await join(joinForm(made.token, csr))).statusCode).toBe(200)
})

it('lets one machine join with a token, even of two at the same time', async () => {
  const { join: made } = await add()
  const requests = await Promise.all([makeRequest(), makeRequest(), makeRequest()])
  const answers = await Promise.all(requests.map(({ csr }) => join(joinForm(made.token, csr))))
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 401, 401])
})

it('refuses a token that is over, was made anew, or is of a removed edge', async () => {
  const { csr } = await makeRequest()
  const refused = async (token: string) => {
    const answer = await join(joinForm(token, csr))
    expect([answer.statusCode, answer.json().message]).toEqual([
      401,
      expect.stringContaining('lets no machine join'),
    ])
  }
  const first = await add()
  const next = (await client.post(`/api/edges/${first.edge.id}/join-token`)).json()
  await refused(first.join.token)
  await client.delete(`/api/edges/${first.edge.id}`)
  await refused(next.token)
  const late = await add()
  server.now = Date.now() + 3_600_001
  await refused(late.join.token)
})

it('refuses a source that shows many unknown tokens, and still lets in whoever has one', async () => {
  const { csr } = await makeRequest()
  const answers = []
  for (let count = 0; count < 22; count++) answers.push(await join(joinForm(`pte_${'x'.repeat(43)}`, csr)))
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([...Array(20).fill(401), 429, 429])
  const { join: made } = await add()
  expect((await join(joinForm(made.token, csr))).statusCode).toBe(200)
})

it('refuses an edge that is newer than the server, and a key that another edge has', async () => {
  const one = await add()
  const { csr } = await makeRequest()
  const newer = await join({ ...joinForm(one.join.token, csr), version: '99.0.0' })
  expect([newer.statusCode, newer.json().message]).toEqual([
    409,
    expect.stringContaining('Upgrade the server first'),
  ])
  expect((await join(joinForm(one.join.token, csr))).statusCode).toBe(200)
  const two = await add({ name: 'Vienna' })
  expect((await join(joinForm(two.join.token, csr))).statusCode).toBe(409)
})

it('keeps number and tunnel key when a machine joins again, and ends the machine before', async () => {
  const before = await addEdgeMachine(server, { name: 'Frankfurt' })
  const [, end] = await listEnds(server.context)
  const { token } = (await client.post(`/api/edges/${before.joined.edgeId}/join-token`)).json()
  const after = await joinAs(server, token)
  expect(after.joined).toMatchObject({ edgeId: before.joined.edgeId, number: 2 })
  expect((await listEnds(server.context))[1]).toEqual(end)
  const state = { path: endpoints.edgeState.path, body: { known: {} } }
  expect((await askControl(server, before, state)).status).toBe(401)
  expect((await askControl(server, after, state)).status).toBe(200)
})

test('a certificate is renewed with the key that the edge has, and no other', async () => {
  const edge = await addEdgeMachine(server, { name: 'Frankfurt' })
  const { path } = endpoints.edgeCertificate
  const answer = await askControl(server, edge, { path, body: { csr: edge.csr } })
  expect(answer.status).toBe(200)
  const renewed = { ...edge, ...(answer.json as { certificate: string }) }
  expect(renewed.certificate).not.toBe(edge.certificate)
  const state = { path: endpoints.edgeState.path, body: { known: {} } }
  expect((await askControl(server, renewed, state)).status).toBe(200)
  const { csr } = await makeRequest()
  expect((await askControl(server, edge, { path, body: { csr } })).status).toBe(422)
})
