import { bucketOf, RESPONSE_BUCKETS } from '@postern/contract/edge/response-times'
import { fresh } from '@postern/testkit/shared'
import { expect, test } from 'vitest'
import { MINUTE, startAlertLab } from '../../../test/alert-lab.ts'
import { createUpkeep } from '../figures/upkeep.ts'

const lab = fresh(startAlertLab)

/** A settled edge, and a service of a node that is online. */
async function startSite() {
  await lab.connectEdge()
  await lab.addNtfy()
  const { id: node } = await lab.client.createNode({ name: 'office' })
  await lab.tell(node, true)
  const form = { name: 'wiki', domain: 'wiki.example.com', backendPort: 80, skipValidation: true }
  const answer = await lab.client.post(`/api/services/${node}/http`, form)
  expect(answer.statusCode, answer.body).toBe(201)
  const { id: service } = answer.json<{ id: number }>()
  const [{ id: domain } = { id: 0 }] = (await lab.client.get('/api/domains')).json<{ id: number }[]>()
  await lab.pass(2 * MINUTE)
  return { node, service, domain }
}

const addRule = async (rule: object) => {
  const made = await lab.client.post('/api/alerts/rules', rule)
  expect(made.statusCode, made.body).toBe(201)
  return made.json<{ id: number; updated_at: string }>()
}

interface Minute {
  requests: number
  errors?: number
  /** How many answers took how many ms. */
  took?: Record<number, number>
}

/** Minutes that are all like this. */
async function carry(service: number, { requests, errors = 0, took = {} }: Minute, minutes: number) {
  for (let i = 0; i < minutes; i++) {
    const minute = Math.floor(lab.server.now / MINUTE)
    const buckets = Array<number>(RESPONSE_BUCKETS).fill(0)
    for (const [ms, count] of Object.entries(took)) buckets[bucketOf(Number(ms))] = count
    await lab.server.context.counts.receive(1, {
      ...{ type: 'counts', ledger: 'a', seq: minute, minute },
      counts: [[service, requests, 6_000_000, 0]],
      answers: [[service, errors, buckets]],
    })
    await lab.pass(MINUTE)
  }
}

const told = () => lab.receiver.received.map(({ body }) => String(body.message).split('\n')[0])

test('requests are told when each of the rule’s minutes had more', async () => {
  const { service } = await startSite()
  await addRule({ name: 'Busy wiki', figure: 'requests', threshold: 100, minutes: 3, serviceId: service })
  await carry(service, { requests: 50 }, 4)
  await carry(service, { requests: 500 }, 4)
  expect(lab.titles()).toEqual([])
  await carry(service, { requests: 500 }, 3)
  expect(lab.titles()).toEqual(['Busy wiki'])
  expect(told()).toEqual(['Requests of wiki: 500 per minute, above the limit of 100 per minute.'])
  expect(await lab.open()).toMatchObject([{ name: 'Busy wiki', serviceId: service, nodeName: 'office' }])
  await carry(service, { requests: 10 }, 6)
  expect(lab.titles()[1]).toBe('Busy wiki: back within its limit')
})

test.each(['serviceId', 'nodeId', 'domainId', 'edgeId', 'all'])(
  'errors and their share are told of what a rule watches (%s)',
  async (subject) => {
    const { service, node, domain } = await startSite()
    const ids: Record<string, number> = { serviceId: service, nodeId: node, domainId: domain, edgeId: 1 }
    const of = subject === 'all' ? {} : { [subject]: ids[subject] }
    await addRule({ name: 'Many', figure: 'errors', threshold: 5, minutes: 2, ...of })
    await addRule({ name: 'Share', figure: 'error-share', threshold: 10, minutes: 5, ...of })
    await carry(service, { requests: 100, errors: 5 }, 6)
    expect(lab.titles()).toEqual([])
    await carry(service, { requests: 100, errors: 60 }, 5)
    expect(lab.titles().sort()).toEqual(['Many', 'Share'])
    const names = { serviceId: 'wiki', nodeId: 'office', domainId: 'wiki.example.com', edgeId: 'Local' }
    const name = { ...names, all: 'all services' }[subject]
    const lines = told().sort()
    expect(lines[1]).toBe(`Errors of ${name}: 60 per minute, above the limit of 5 per minute.`)
    expect(lines[0]).toBe(
      `Error Share of ${name}: 16 % of 500 requests in 5 minutes, above the limit of 10 %.`,
    )
    await carry(service, { requests: 100 }, 9)
    expect(lab.titles().slice(2).sort()).toEqual([
      'Many: back within its limit',
      'Share: back within its limit',
    ])
  },
)

test('response times are those of all answers of the rule’s minutes, also of minutes that are packed', async () => {
  const { service } = await startSite()
  const upkeep = createUpkeep({ ...lab.server.context, clock: () => lab.server.now })
  const rule = { threshold: 400, minutes: 20, serviceId: service }
  await addRule({ name: 'Slowest', figure: 'p95', ...rule })
  await addRule({ name: 'Half', figure: 'p50', ...rule })
  await carry(service, { requests: 10, took: { 90: 10 } }, 20)
  await carry(service, { requests: 10, took: { 90: 8, 700: 2 } }, 12)
  await upkeep.run()
  await carry(service, { requests: 10, took: { 90: 8, 700: 2 } }, 3)
  expect(lab.titles()).toEqual(['Slowest'])
  expect(told()[0]).toMatch(
    /^Response Time \(95 % within\) of wiki: \d{3}(\.\d)? ms of 200 answers in 20 minutes, above the limit of 400 ms\.$/,
  )
  await upkeep.close()
})

test('a share and a time of a few requests is not known: it begins nothing, and ends nothing', async () => {
  const { service } = await startSite()
  await addRule({ name: 'Share', figure: 'error-share', threshold: 10, serviceId: service })
  await addRule({ name: 'Slow', figure: 'p95', threshold: 100, serviceId: service })
  await carry(service, { requests: 3, errors: 3, took: { 900: 3 } }, 10)
  expect(lab.titles()).toEqual([])
  await carry(service, { requests: 10, errors: 3, took: { 900: 7 } }, 5)
  expect(lab.titles().sort()).toEqual(['Share', 'Slow'])
  await carry(service, { requests: 1 }, 20)
  expect(await lab.open()).toHaveLength(2)
  await carry(service, { requests: 30, took: { 20: 30 } }, 9)
  expect(await lab.open()).toEqual([])
})

test('a rule of a muted service, or of one of a muted node, tells nothing', async () => {
  const { service, node } = await startSite()
  await addRule({ name: 'Busy', figure: 'requests', threshold: 1, minutes: 1, serviceId: service })
  await lab.client.patch(`/api/nodes/${node}/mute`, {})
  await carry(service, { requests: 9 }, 5)
  expect(lab.titles()).toEqual([])
  await lab.client.patch(`/api/nodes/${node}/unmute`)
  await carry(service, { requests: 9 }, 3)
  expect(lab.titles()).toEqual(['Busy'])
})

test('what a rule cannot watch is an error at its field', async () => {
  const { node, domain } = await startSite()
  const port = { name: 'mqtt', proto: 'tcp', port: 32_670, backendPort: 1883 }
  const tcp = await lab.client.post(`/api/services/${node}/tcp`, port)
  expect(tcp.statusCode, tcp.body).toBe(201)
  const errorsOf = async (rule: object) => {
    const answer = await lab.client.post('/api/alerts/rules', { name: 'x', threshold: 1, ...rule })
    expect(answer.statusCode, answer.body).toBe(422)
    return answer.json<{ errors: unknown }>().errors
  }
  expect(await errorsOf({ figure: 'p95', serviceId: tcp.json().id })).toMatchObject([
    { field: 'serviceId', message: expect.stringContaining('Choose an HTTP service') },
  ])
  expect(await errorsOf({ figure: 'errors', domainId: 999 })).toMatchObject([{ field: 'domainId' }])
  expect(await errorsOf({ figure: 'errors', edgeId: 999 })).toMatchObject([{ field: 'edgeId' }])
  expect(await errorsOf({ figure: 'errors', nodeId: node, domainId: domain })).toMatchObject([
    { field: 'domainId' },
  ])
  expect(await errorsOf({ figure: 'error-share', threshold: 100 })).toMatchObject([
    { field: 'threshold', message: 'Enter a whole number from 0 to 99.' },
  ])
  expect(await errorsOf({ figure: 'p50', minutes: 61 })).toMatchObject([
    { field: 'minutes', message: expect.stringContaining('Enter 1 to 60 minutes') },
  ])
  expect(await errorsOf({ figure: 'p50', threshold: 30_001 })).toMatchObject([
    { field: 'threshold', message: 'Enter 0 to 30,000 ms.' },
  ])
})

test('the rules of a domain go with it', async () => {
  const { node, service, domain } = await startSite()
  const { id } = await addRule({ name: 'Share', figure: 'error-share', threshold: 5, domainId: domain })
  await lab.client.delete(`/api/services/${node}/http/${service}`)
  await lab.client.delete(`/api/domains/${domain}`)
  expect((await lab.client.get(`/api/alerts/rules/${id}`)).statusCode).toBe(404)
})
