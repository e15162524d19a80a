import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { startTestServer, TEST_ADMIN } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { openDatabase } from '../../db/open.ts'

const server = fresh(startTestServer)
const client = fresh(() => server.signIn())

/** Every secret that exists after a node with a file was created, in the clear. */
async function makeSecrets() {
  const { token } = (await client.post('/api/nodes', { name: 'a' })).json()
  const file = (await client.get('/api/nodes/2/download')).body
  const secret = (key: string) => new RegExp(`^${key} = (.*)$`, 'm').exec(file)?.[1] ?? 'missing'
  const edgeToken = readFileSync(server.context.config.paths.edgeToken, 'utf8').trim()
  return {
    session: client.token,
    password: TEST_ADMIN.password,
    nodeToken: token as string,
    nodeKey: secret('PrivateKey'),
    presharedKey: secret('PresharedKey'),
    tunnelKey: server.context.tunnel.privateKey,
    edgeToken,
  }
}

test('no answer of the console holds a key or a token', async () => {
  const secrets = await makeSecrets()
  const urls = [
    '/api/nodes',
    '/api/nodes/2',
    '/api/nodes?limit=10',
    '/api/config',
    '/api/edges',
    '/api/auth/me',
  ]
  const answers = [...urls.map((url) => client.get(url)), client.patch('/api/nodes/2', { name: 'b' })]
  for (const answer of await Promise.all(answers)) {
    expect(answer.statusCode).toBe(200)
    for (const secret of Object.values(secrets)) expect(answer.body).not.toContain(secret)
  }
})

test('no log line holds a key, a token or a password', async () => {
  const secrets = await makeSecrets()
  await server.call({ method: 'GET', url: `/api/nodes/2/download?token=${client.token}` })
  await server.call({
    method: 'GET',
    url: `/api/nothing?token=${client.token}`,
    headers: { cookie: `token=${client.token}` },
  })
  await client.post('/api/auth/login', { username: 'admin', password: TEST_ADMIN.password, extra: 1 })
  server.context.log.error(
    { req: { headers: { authorization: `Bearer ${client.token}` } } },
    'as a library might',
  )
  const port = new URL(await server.listen()).port
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/nodes/2?token=${client.token}`)
  await new Promise((resolve) => socket.on('error', resolve).on('close', resolve))
  expect(server.logged()).toContain('/api/nodes/:id/download')
  for (const [name, secret] of Object.entries(secrets))
    expect([name, server.logged().includes(secret)]).toEqual([name, false])
})

test('nothing in the database file opens anything by itself', async () => {
  const secrets = await makeSecrets()
  const { database, secretKey, serverDir } = server.context.config.paths
  const bytes = readFileSync(database, 'latin1') + readFileSync(`${database}-wal`, 'latin1')
  for (const [name, secret] of Object.entries(secrets))
    expect([name, bytes.includes(secret)]).toEqual([name, false])
  expect(statSync(secretKey).mode & 0o777).toBe(0o600)
  expect(statSync(serverDir).mode & 0o777).toBe(0o700)
})

test('the stored secrets need their key: without it the server does not start', async () => {
  const lose = () => rmSync(server.context.config.paths.secretKey)
  await expect(server.restart({}, lose)).rejects.toThrow('secret.key is missing')
})

test('a database that is missing or empty beside its key is not started over: the edges would follow', async () => {
  const { database } = server.context.config.paths
  for (const lose of [() => rmSync(database), () => writeFileSync(database, '')])
    await expect(server.restart({}, lose)).rejects.toThrow('restore the database')
})

test('a first start that was killed before it made its key can be repeated', async () => {
  const { database, secretKey } = server.context.config.paths
  await server.restart({}, async () => {
    for (const file of [database, secretKey]) rmSync(file)
    await openDatabase(database).destroy()
  })
  expect((await (await server.signIn()).get('/api/nodes')).statusCode).toBe(200)
})
