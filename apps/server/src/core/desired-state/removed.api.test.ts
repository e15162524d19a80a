import { StatementSync } from 'node:sqlite'
import type { StateAnswer } from '@postern/contract/edge/desired-state'
import { writeRows } from '@postern/testkit/rows'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { expect, test, vi } from 'vitest'
import { dropOrder } from '../../certificates/orders/rows.ts'

const settings = {
  POSTERN_OIDC_ISSUER: 'https://issuer.example.com',
  POSTERN_OIDC_CLIENT_ID: 'postern',
  POSTERN_OIDC_CLIENT_SECRET: 'a secret',
}
const server = fresh(() => startTestServer({ settings }))
const client = fresh(() => server.signIn())

const AT = '2026-11-22T00:00:00.000Z'
const DOMAIN = 'app.example.com'

/** What the edges get, by the kept rows. */
async function read() {
  const { sections } = JSON.parse((await server.context.desiredState.read(1, {})).join('')) as StateAnswer
  return {
    peers: sections.peers.length,
    routes: sections.routes.filter(({ system }) => !system).length,
    signIns: sections.signIns.length,
    certificates: sections.certificates.length,
    challenges: sections.challenges.length,
  }
}

/** One row of each table, all of which reach the edges. */
async function fill() {
  const { id: nodeId } = await client.createNode({ name: 'n' })
  await client.get(`/api/nodes/${nodeId}/download`)
  const { id: domainId } = await client.createDomain({
    ...{ domain: DOMAIN, skipValidation: true, authentication: true, allowedEmails: ['ann@example.com'] },
  })
  await writeRows(server.context.db, async (tx, revision) => {
    const row = { domain_id: domainId, token: 't', thumbprint: 'x', created_at: AT, updated_at: AT, revision }
    await tx.insertInto('challenges').values(row).execute()
  })
  const form = { name: 's', domain: DOMAIN, requireAuth: true }
  const { id } = (await client.post(`/api/services/${nodeId}/http`, form)).json()
  return { nodeId, domainId, service: `/api/services/${nodeId}/http/${id}` }
}

test('a deleted row of each table leaves the edges with the next reading', async () => {
  const { nodeId, domainId, service } = await fill()
  const all = { peers: 1, routes: 1, signIns: 1, certificates: 2, challenges: 1 }
  expect(await read()).toEqual(all)
  await writeRows(server.context.db, (tx) => dropOrder(tx, domainId))
  expect(await read()).toEqual({ ...all, challenges: 0 })
  expect((await client.delete(service)).statusCode).toBe(200)
  expect(await read()).toEqual({ ...all, challenges: 0, routes: 0 })
  expect((await client.delete(`/api/nodes/${nodeId}`)).statusCode).toBe(200)
  expect(await read()).toEqual({ ...all, challenges: 0, routes: 0, peers: 0 })
  // With its certificate; that of the installation stays.
  expect((await client.delete(`/api/domains/${domainId}`)).statusCode).toBe(200)
  expect(await read()).toEqual({ peers: 0, routes: 0, signIns: 0, certificates: 1, challenges: 0 })
})

test('services that go with their node leave with it', async () => {
  const { nodeId } = await fill()
  await read()
  expect((await client.delete(`/api/nodes/${nodeId}`)).statusCode).toBe(200)
  expect(await read()).toMatchObject({ peers: 0, routes: 0 })
})

test('nothing is counted or listed for the edges while nothing is deleted', async () => {
  const { service } = await fill()
  await read()
  const asked = vi.spyOn(StatementSync.prototype, 'all')
  const listStatements = async () => {
    asked.mockClear()
    await read()
    return asked.mock.contexts.map((statement) => (statement as StatementSync).sourceSQL)
  }
  const isCounting = (sql: string) => /count\(|json_group_array/.test(sql)
  try {
    expect((await client.patch(service, { backendPort: 81 })).statusCode).toBe(200)
    const changed = await listStatements()
    expect([changed.length > 5, changed.filter(isCounting)]).toEqual([true, []])
    expect((await client.delete(service)).statusCode).toBe(200)
    expect((await listStatements()).some(isCounting)).toBe(true)
    expect((await listStatements()).filter(isCounting)).toEqual([])
  } finally {
    asked.mockRestore()
  }
})
