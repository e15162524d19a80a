import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { createWireGuardKeys } from '@postern/host/wireguard-keys'
import { letIn } from '@postern/testkit/people'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { expect, test } from 'vitest'

const server = fresh(startTestServer)
const admin = fresh(() => server.signIn())

/** Sends the head of a request, and its body when the returned function is called. @returns the status of the answer */
async function begin(
  token: string,
  method: string,
  path: string,
  form: object,
): Promise<() => Promise<number>> {
  const body = JSON.stringify(form)
  const socket = connect(Number(new URL(server.origin).port), '127.0.0.1')
  const answer = new Promise<string>((resolve, reject) => {
    socket.once('data', (bytes) => resolve(String(bytes)))
    socket.once('error', reject)
  })
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${new URL(server.origin).host}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  return async () => {
    socket.write(body)
    const status = Number((await answer).split(' ')[1])
    socket.destroy()
    return status
  }
}

test('who loses access while a body comes in has lost it', async () => {
  await server.listen()
  const mal = await letIn(server, admin, { username: 'mal', role: 'admin', reach: null })
  const finish = await begin(mal.client.token, 'POST', '/api/people', { username: 'backdoor', role: 'admin' })
  const slow = await begin(admin.token, 'POST', '/api/nodes', { name: 'slow' })
  await pause(300)
  expect((await admin.patch(`/api/people/${mal.id}/disable`)).statusCode).toBe(200)
  expect(await finish()).toBe(401)
  expect(await slow()).toBe(201)
  expect((await admin.get('/api/people')).body).not.toContain('backdoor')
})

test('a token of a node that ends while its key comes in leaves no key behind', async () => {
  await server.listen()
  const node = await admin.createNode({ name: 'site' })
  const pats = `/api/nodes/${node.id}/pats`
  const [{ id }] = (await admin.get(pats)).json()
  const { publicKey } = createWireGuardKeys(Buffer.alloc(32, 7))
  const finish = await begin(node.token, 'PUT', '/api/agent/key', { publicKey })
  await pause(300)
  expect((await admin.delete(`${pats}/${id}?forgetKey=true`)).statusCode).toBe(200)
  expect(await finish()).toBe(401)
  const { public_key } = await server.context.db
    .selectFrom('nodes')
    .select('public_key')
    .where('id', '=', node.id)
    .executeTakeFirstOrThrow()
  expect(public_key).toBe(null)
})
