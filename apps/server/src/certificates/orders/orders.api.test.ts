import { X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import {
  type AnsweringEdge,
  answerChallenges,
  findChallengePort,
} from '@postern/testkit/authority/answering-edge'
import { type Front, startFront } from '@postern/testkit/authority/front'
import { type Pebble, startPebble } from '@postern/testkit/authority/pebble'
import { fetchState } from '@postern/testkit/edge-client'
import { type NameServer, startNameServer } from '@postern/testkit/name-server'
import {
  type Client,
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from '@postern/testkit/server'
import { until } from '@postern/testkit/until'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { LookupError } from '../../core/domains/resolver.ts'

let names: NameServer
let pebble: Pebble
let front: Front
let httpPort: number
let server: TestServer
let client: Client
let edge: AnsweringEdge
let isStopped = false

beforeAll(async () => {
  names = await startNameServer()
  httpPort = await findChallengePort()
  pebble = await startPebble({ httpPort, nameServer: names.address, badNonces: 20 })
})
afterAll(async () => {
  await pebble.close()
  names.close()
})
beforeEach(async () => {
  front = await startFront(pebble)
  await start()
})
afterEach(async () => {
  await stop()
  await front.close()
  now = 0
  dns.clear()
  names.answers.clear()
})

const DAY = 86_400_000
let now = 0
/** What our own name server says; the authority's is another, where all names lead to this machine. */
const dns = new Map<string, string[] | LookupError>()
const resolver = {
  async resolve(name: string) {
    const found = dns.get(name) ?? ['203.0.113.1']
    if (found instanceof LookupError) throw found
    return found
  },
}

async function start(options: TestServerOptions = {}): Promise<void> {
  server = await startTestServer({
    ...options,
    settings: {
      POSTERN_ACME_DIRECTORY: front.directory,
      POSTERN_ACME_CA_FILE: pebble.caFile,
      ...options.settings,
    },
    world: { resolver, clock: () => Date.now() + now, ...options.world },
  })
  client = await server.signIn()
  edge = await answerChallenges(server, httpPort)
  isStopped = false
}

async function stop(options = {}): Promise<void> {
  if (isStopped) return
  isStopped = true
  await edge.close()
  await server.close(options)
}

async function create(domain: string): Promise<number> {
  if (!names.answers.has(domain)) names.answers.set(domain, ['127.0.0.1'])
  const answer = await client.post('/api/domains', { domain, ssl: 'certbot' })
  expect(answer.statusCode).toBe(201)
  return answer.json().id
}
const read = async (id: number) => (await client.get(`/api/domains/${id}`)).json().certificate
const whenIs = (id: number, what: object) =>
  until(`the certificate to be ${JSON.stringify(what)}`, async () => {
    const certificate = await read(id)
    expect(certificate).toMatchObject(what)
    return certificate
  })
/** Of this machine, and nobody listens there. */
const NOWHERE = '127.0.0.2'
const VALID = { status: 'valid', kind: 'certbot', step: null, problem: null }
async function shown(domain: string): Promise<X509Certificate> {
  const { sections } = await fetchState(server)
  return new X509Certificate(
    sections.certificates.find(({ domains }) => domains.includes(domain))?.chain ?? '',
  )
}
const ordersPlaced = () => front.answered.filter((answered) => answered === 'POST /order-plz 201').length
const poke = () => server.context.bus.emit({ kind: 'changed', revision: 0, touched: { domains: [1] } })
const orders = () => server.context.db.selectFrom('orders').selectAll().execute()

test('a domain gets a certificate that the root of the authority vouches for, and nothing is left over', async () => {
  const id = await create('app.example.com')
  const certificate = await whenIs(id, VALID)
  expect(certificate.issuer).toMatch(/^Pebble/)
  const leaf = await shown('app.example.com')
  expect(leaf.checkHost('app.example.com')).toBe('app.example.com')
  expect(leaf.validTo).toBe(new X509Certificate(leaf.raw).validTo)
  const { sections } = await fetchState(server)
  expect(sections.challenges).toEqual([])
  expect(await orders()).toMatchObject([{ step: null, url: null, private_key: null, failures: 0 }])
  expect(edge.looked).toEqual(expect.arrayContaining(['app.example.com answered']))
  const renewal = (await orders())[0]?.due_at ?? 0
  const life = Date.parse(certificate.notAfter) - Date.parse(certificate.notBefore)
  expect((renewal - Date.parse(certificate.notBefore)) / life).toBeGreaterThan(0.6)
  expect((renewal - Date.parse(certificate.notBefore)) / life).toBeLessThanOrEqual(2 / 3)
})

test('no key of the account or of a certificate is in an answer, a log, or readable in the database', async () => {
  const id = await create('app.example.com')
  await whenIs(id, VALID)
  const { sections } = await fetchState(server)
  const key =
    sections.certificates.find(({ domains }) => domains.includes('app.example.com'))?.privateKey ?? ''
  const secret = key.split('\n')[1] ?? 'missing'
  const answers = await Promise.all([client.get('/api/domains'), client.get(`/api/domains/${id}`)])
  for (const text of [...answers.map(({ body }) => body), server.logged()]) {
    expect(text).not.toContain(secret)
    expect(text).not.toContain('PRIVATE KEY')
  }
  const settings = await server.context.db.selectFrom('settings').selectAll().execute()
  const certificates = await server.context.db.selectFrom('certificates').selectAll().execute()
  for (const text of [JSON.stringify(settings), JSON.stringify(certificates)]) {
    expect(text).not.toContain('PRIVATE KEY')
    expect(text).not.toContain(secret)
  }
})

test('the authority is told to look only when the edge has the answer', async () => {
  await edge.pause(true)
  const id = await create('slow.example.com')
  await whenIs(id, { step: 'preparing' })
  expect(front.asked.filter((asked) => asked.includes('/chalZ/'))).toEqual([])
  await edge.pause(false)
  await whenIs(id, VALID)
  expect(edge.looked).not.toContain('slow.example.com unknown')
})

test('a restart goes on with the order that was under way', async () => {
  await edge.pause(true)
  const id = await create('again.example.com')
  await whenIs(id, { step: 'preparing' })
  const { dataDir } = server
  await stop({ keepData: true })
  expect(ordersPlaced()).toBe(1)
  await start({ dataDir })
  await whenIs(id, VALID)
  expect(ordersPlaced()).toBe(1)
})

test('an order that the authority has forgotten meanwhile is placed anew', async () => {
  await edge.pause(true)
  const id = await create('lost.example.com')
  await whenIs(id, { step: 'preparing' })
  const { dataDir } = server
  await server.context.db
    .updateTable('orders')
    .set(({ eb }) => ({ url: eb('url', '||', 'x') }))
    .execute()
  await stop({ keepData: true })
  await start({ dataDir })
  await whenIs(id, VALID)
  expect(ordersPlaced()).toBe(2)
})

test('changing to self-signed in the middle ends the order, and so does deleting', async () => {
  await edge.pause(true)
  const [one, two] = [await create('one.example.com'), await create('two.example.com')]
  await whenIs(one, { step: 'preparing' })
  await whenIs(two, { step: 'preparing' })
  await client.patch(`/api/domains/${one}`, { ssl: 'self-signed' })
  await client.delete(`/api/domains/${two}`)
  expect((await fetchState(server)).sections.challenges).toEqual([])
  expect(await orders()).toEqual([])
  await until(
    'the authority to be told',
    () => front.asked.filter((asked) => asked.includes('/authZ/')).length >= 4,
  )
  await edge.pause(false)
  expect(await read(one)).toMatchObject({ status: 'valid', kind: 'self-signed', step: null })
  const { sections } = await fetchState(server)
  expect(sections.certificates.flatMap(({ domains }) => domains)).toEqual(['one.example.com'])
})

test('sixty at once never keep the server from anything else for long, and no more than 20 are open', async () => {
  let [longest, most, last] = [0, 0, process.threadCpuUsage()]
  // Of this thread alone: what else the machine does must not count.
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(last)
    last = process.threadCpuUsage()
    longest = Math.max(longest, (user + system) / 1000)
  }, 1)
  // So that each waits where it is open, until all are there.
  await edge.pause(true)
  const ids: number[] = []
  for (let n = 0; n < 60; n++) ids.push(await create(`many${n}.example.com`))
  const isOpen = ({ step }: { step: string | null }) => step !== null && step !== 'queued'
  await until(
    'twenty to wait',
    async () => (await orders()).filter((row) => row.step === 'preparing').length === 20,
  )
  await edge.pause(false)
  await until('all to be valid', async () => {
    const rows = await orders()
    most = Math.max(most, rows.filter(isOpen).length)
    return rows.every(
      ({ step, problem, directory }) => step === null && problem === null && directory !== null,
    )
  })
  clearInterval(timer)
  process.stdout.write(`60 certificates: at most ${most} open, ${longest.toFixed(1)} ms at a stretch\n`)
  for (const id of ids) expect(await read(id)).toMatchObject(VALID)
  expect(most).toBeLessThanOrEqual(20)
  // 50 ms, five times.
  expect(longest).toBeLessThan(250)
})

describe('renewal', () => {
  test('comes at two thirds of the life, and one that fails leaves the running certificate', async () => {
    const id = await create('app.example.com')
    await whenIs(id, VALID)
    const first = await shown('app.example.com')
    names.answers.set('app.example.com', [NOWHERE])
    now = 61 * DAY
    poke()
    client = await server.signIn()
    const failed = await whenIs(id, {
      status: 'valid',
      kind: 'certbot',
      step: null,
      problem: { code: 'unreachable' },
    })
    expect(failed.renewalFailing).toBe(false)
    expect((await shown('app.example.com')).serialNumber).toBe(first.serialNumber)
    expect(Date.parse(failed.nextTryAt) - Date.now() - now).toBeLessThanOrEqual(60_000)
    now = 77 * DAY
    client = await server.signIn()
    expect(await read(id)).toMatchObject({ status: 'valid', renewalFailing: true })
    names.answers.set('app.example.com', ['127.0.0.1'])
    now = 61 * DAY
    client = await server.signIn()
    await client.post(`/api/domains/${id}/certificate/retry`)
    await whenIs(id, VALID)
    expect((await shown('app.example.com')).serialNumber).not.toBe(first.serialNumber)
  })
})

describe('an authority', () => {
  test('that says when it wants a renewal is asked, and heard', async () => {
    const windows: [number, number][] = [[Date.now() - 2000, Date.now() - 1000]]
    front.change = ({ url }, body) =>
      url === '/dir'
        ? JSON.stringify({ ...JSON.parse(body), renewalInfo: front.directory.replace('dir', 'info') })
        : body
    const ids: string[] = []
    front.intercept = ({ url }) => {
      if (!url?.startsWith('/info/')) return undefined
      ids.push(url.slice(6))
      const [start, end] = windows[0] ?? [0, 0]
      const suggestedWindow = { start: new Date(start).toISOString(), end: new Date(end).toISOString() }
      return { status: 200, headers: { 'retry-after': '21600' }, body: { suggestedWindow } }
    }
    const id = await create('ari.example.com')
    await whenIs(id, VALID)
    const first = await shown('ari.example.com')
    await until('the authority to be asked', () => ids.length > 0)
    const [keyId = '', serial = ''] = ids[0]?.split('.') ?? []
    expect(Buffer.from(serial, 'base64url').toString('hex').replace(/^00/, '').toUpperCase()).toBe(
      first.serialNumber,
    )
    expect(Buffer.from(keyId, 'base64url').length).toBe(20)
    const planned = await until('a plan', async () => {
      const [order] = await orders()
      return order && order.due_at < Date.now() + 2 * 3_600_000 && order.due_at
    })
    expect(planned).toBeGreaterThan(Date.now())
    now = 2 * 3_600_000
    poke()
    await until(
      'the renewal',
      async () => (await shown('ari.example.com')).serialNumber !== first.serialNumber,
    )
  })

  test('with short lives is asked for the next certificate in time', async () => {
    const short = await startPebble({ httpPort, nameServer: names.address, life: 6 * 86_400 })
    try {
      const { dataDir } = server
      await stop({ keepData: true })
      await start({
        dataDir,
        settings: { POSTERN_ACME_DIRECTORY: short.directory, POSTERN_ACME_CA_FILE: short.caFile },
      })
      await whenIs(await create('short.example.com'), VALID)
      const [order] = await orders()
      expect((order?.due_at ?? 0) / DAY - Date.now() / DAY).toBeCloseTo(3.85, 0)
    } finally {
      await short.close()
    }
  })

  test('of another address gets an account of its own, and signs all anew; meanwhile the old ones stay', async () => {
    const id = await create('move.example.com')
    const { issuer } = await whenIs(id, VALID)
    const first = await shown('move.example.com')
    const other = await startPebble({
      httpPort,
      nameServer: names.address,
      bindings: { 'kid-1': EAB_SECRET },
    })
    const settings = { POSTERN_ACME_DIRECTORY: other.directory, POSTERN_ACME_CA_FILE: other.caFile }
    try {
      const { dataDir } = server
      await stop({ keepData: true })
      await start({ dataDir, settings })
      const failed = await whenIs(id, { step: null, problem: { code: 'account' } })
      expect(failed).toMatchObject({ status: 'valid', issuer })
      expect((await shown('move.example.com')).serialNumber).toBe(first.serialNumber)
      await stop({ keepData: true })
      const file = `${dataDir}/hmac`
      writeFileSync(file, `${EAB_SECRET}\n`)
      const binding = { POSTERN_ACME_EAB_KID: 'kid-1', POSTERN_ACME_EAB_HMAC_FILE: file }
      await start({ dataDir, settings: { ...settings, ...binding, POSTERN_ACME_EMAIL: 'ops@example.com' } })
      await client.post(`/api/domains/${id}/certificate/retry`)
      await until(
        'the other to have signed',
        async () => (await shown('move.example.com')).serialNumber !== first.serialNumber,
      )
      expect(server.logged()).not.toContain(EAB_SECRET)
      const rows = await server.context.db
        .selectFrom('settings')
        .select('key')
        .where('key', 'like', 'acme.key %')
        .execute()
      expect(rows).toHaveLength(2)
    } finally {
      await other.close()
    }
  })

  test('without the profile that was asked for says which it has', async () => {
    const { dataDir } = server
    await stop({ keepData: true })
    await start({ dataDir, settings: { POSTERN_ACME_PROFILE: 'shortlived' } })
    const certificate = await whenIs(await create('profile.example.com'), { status: 'failed' })
    expect(certificate.problem).toMatchObject({ code: 'rejected' })
    expect(certificate.error).toContain('no profile shortlived')
  })
})

/** 32 bytes, as authorities give them out. */
const EAB_SECRET = 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG'

const problem = (type: string, detail: string) => ({ type: `urn:ietf:params:acme:error:${type}`, detail })

describe('a failure is told apart', () => {
  /** Once the name was checked, and before the authority looks. */
  async function change(domain: string, ours: string[] | LookupError, theirs: string[] | 'none') {
    await edge.pause(true)
    const id = await create(domain)
    await whenIs(id, { step: 'preparing' })
    dns.set(domain, ours)
    names.answers.set(domain, theirs)
    await edge.pause(false)
    return await whenIs(id, { status: 'failed' })
  }

  test('no such name', async () => {
    const { problem } = await change('none.example.com', new LookupError('absent'), 'none')
    expect(problem).toMatchObject({ code: 'dns', found: [], expected: ['203.0.113.1'] })
    expect(problem.detail).toContain('none.example.com')
  })

  test('a name that points elsewhere', async () => {
    const { problem } = await change('away.example.com', ['198.51.100.7'], [NOWHERE])
    expect(problem).toMatchObject({ code: 'dns', found: ['198.51.100.7'], expected: ['203.0.113.1'] })
  })

  test('port 80 that nobody reaches', async () => {
    const certificate = await change('here.example.com', ['203.0.113.1'], [NOWHERE])
    expect(certificate.problem).toMatchObject({ code: 'unreachable', found: ['203.0.113.1'] })
    expect(certificate.problem.detail).toContain('here.example.com')
    expect(certificate.kind).toBe('self-signed')
  })

  test.each([
    ['caa', 403, 'caa'],
    ['rejectedIdentifier', 400, 'rejected'],
    ['externalAccountRequired', 403, 'account'],
    ['serverInternal', 500, 'authority'],
  ])('%s', async (type, status, code) => {
    const detail = 'In its\n\u202Eown words'
    front.intercept = ({ url }) =>
      url === '/order-plz' ? { status, body: problem(type, detail) } : undefined
    const certificate = await whenIs(await create('no.example.com'), { status: 'failed' })
    expect(certificate.problem).toMatchObject({ code, detail: 'In its own words' })
    expect(certificate.error).toBe('In its own words')
  })

  test('a rate limit, with the time it ends', async () => {
    const retryAt = Date.now() + 5 * 3_600_000
    front.intercept = ({ url }) =>
      url === '/order-plz'
        ? {
            status: 429,
            headers: { 'retry-after': new Date(retryAt).toUTCString() },
            body: problem('rateLimited', 'too many certificates'),
          }
        : undefined
    const certificate = await whenIs(await create('many.example.com'), { status: 'failed' })
    expect(certificate.problem.code).toBe('rate-limit')
    expect(Math.abs(Date.parse(certificate.nextTryAt) - retryAt)).toBeLessThan(2000)
  })

  test.each([
    ['garbage', { status: 200, body: '<html>' }],
    ['an error page', { status: 502, body: '<html>' }],
    ['other JSON', { status: 201, headers: { location: 'https://x.example/1' }, body: { status: 'odd' } }],
    ['far too much', { status: 200, body: 'x'.repeat(1_000_000) }],
  ])('an authority that answers with %s', async (_, answer) => {
    front.intercept = ({ url }) => (url === '/order-plz' ? answer : undefined)
    const certificate = await whenIs(await create('odd.example.com'), { status: 'failed' })
    expect(certificate.problem.code).toBe('authority')
    expect(certificate.problem.detail).not.toContain('<')
  })

  test('an authority that hangs, which delays no other domain', async () => {
    front.intercept = ({ url }) => (url === '/order-plz' ? 'hang' : undefined)
    const stuck = await create('stuck.example.com')
    await until('the order to be placed', () => front.asked.includes('POST /order-plz'))
    front.intercept = () => undefined
    await whenIs(await create('well.example.com'), VALID)
    const certificate = await whenIs(stuck, { status: 'failed', problem: { code: 'authority' } })
    expect(certificate.problem.detail).toContain('did not answer within')
  })

  test('an authority that hangs does not keep the server from stopping, which goes on with the order later', async () => {
    front.intercept = ({ url }) => (url === '/order-plz' ? 'hang' : undefined)
    const id = await create('stuck.example.com')
    await until('the order to be placed', () => front.asked.includes('POST /order-plz'))
    const { dataDir } = server
    const before = performance.now()
    await stop({ keepData: true })
    // At once, five times two seconds; the authority would be waited for 15 s.
    expect(performance.now() - before).toBeLessThan(10_000)
    front.intercept = () => undefined
    await start({ dataDir })
    await whenIs(id, VALID)
    expect((await orders())[0]?.failures).toBe(0)
  })

  test('an authority that is down, until Try again', async () => {
    await front.close()
    const id = await create('down.example.com')
    const certificate = await whenIs(id, { status: 'failed', problem: { code: 'authority' } })
    expect(certificate.problem.detail).toContain('could not be reached')
    const wait = Date.parse(certificate.nextTryAt) - Date.parse(certificate.problem.at)
    expect(wait).toBeGreaterThan(40_000)
    expect(wait).toBeLessThan(62_000)
    front = await startFront(pebble)
  })
})
