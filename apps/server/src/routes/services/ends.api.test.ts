import type { Service } from '@postern/contract/services/services'
import { publishAs } from '@postern/testkit/agent-calls'
import { writeRows } from '@postern/testkit/rows'
import { fresh, shared } from '@postern/testkit/shared'
import { costMs } from '@postern/testkit/time'
import { until } from '@postern/testkit/until'
import { describe, expect, it } from 'vitest'
import { errorsOf, make, startServiceLab } from '../../../test/service-lab.ts'
import { getRevision } from '../../changes/change.ts'
import { insertService } from '../../core/services/services.ts'

const DAY = 86_400_000
const lab = shared(startServiceLab)
const urlOf = ({ nodeId, type, id }: Service) => `/api/services/${nodeId}/${type}/${id}`
const create = (form: object, type = 'http') => lab.client.post(`/api/services/${lab.plain}/${type}`, form)
const add = async (form: object): Promise<Service> => (await create(make(form))).json()
const inMs = (service: Service) => Date.parse(service.endsAt ?? '') - Date.now()
const isThere = async (service: Service) => (await lab.client.get(urlOf(service))).statusCode === 200

describe('the end of a service', () => {
  it.each([
    [{}, null],
    [{ ttl: null, endsAt: null }, null],
    [{ ttl: '' }, null],
    [{ ttl: 3600 }, 3_600_000],
    [{ ttl: '1h30m' }, 5_400_000],
    [{ ttl: '7d', endsAt: new Date(Date.now() + DAY).toISOString() }, 7 * DAY],
    [{ endsAt: new Date(Date.now() + DAY).toISOString() }, DAY],
  ])('of the form %j is in %s ms', async (form, ms) => {
    const service = await add(form)
    if (ms === null) expect(service.endsAt).toBeNull()
    else expect(Math.abs(inMs(service) - ms)).toBeLessThan(60_000)
    expect(service).not.toHaveProperty('ttl')
  })

  it.each([
    [{ ttl: 0 }, 'ttl', 'Enter a length of time from 1 second to 10 years, like 90m, 8h or 7d.'],
    [{ ttl: '11y' }, 'ttl', 'Enter a length of time from 1 second to 10 years, like 90m, 8h or 7d.'],
    [{ ttl: 1.5 }, 'ttl', 'Enter a length of time from 1 second to 10 years, like 90m, 8h or 7d.'],
    [{ ttl: '999999999d' }, 'ttl', 'Enter a length of time from 1 second to 10 years, like 90m, 8h or 7d.'],
    [{ ttl: {} }, 'ttl', 'Enter a length of time from 1 second to 10 years, like 90m, 8h or 7d.'],
    [{ endsAt: 'tomorrow' }, 'endsAt', 'must be a valid date'],
    [{ endsAt: '2020-01-01T00:00:00Z' }, 'endsAt', 'must be in the future'],
  ])('refuses %j at its field', async (form, field, message) => {
    const answer = await create(make(form))
    expect([answer.statusCode, errorsOf(answer)]).toEqual([422, [{ field, message }]])
  })

  it('stays when something else is edited, is moved by another one, and goes with null', async () => {
    const service = await add({ ttl: '1h' })
    const edit = async (form: object): Promise<Service> =>
      (await lab.client.patch(urlOf(service), form)).json()
    expect((await edit({ name: 'other' })).endsAt).toBe(service.endsAt)
    expect(inMs(await edit({ ttl: '2d' }))).toBeGreaterThan(DAY)
    expect((await edit({ endsAt: null })).endsAt).toBeNull()
  })

  it('is also that of a TCP service', async () => {
    const answer = await create({ name: 'ssh', backendPort: 22, ttl: '8h' }, 'tcp')
    expect(inMs(answer.json())).toBeGreaterThan(7 * 3_600_000)
  })

  it('is none of the console; an agent says it as a moment', async () => {
    const consoles: Service[] = (await lab.client.get(`/api/services/${lab.local}/http`)).json()
    const own = consoles.find(({ system }) => system)
    if (!own) throw new Error('the console has a service')
    const answer = await lab.client.patch(urlOf(own), { ttl: '1h' })
    expect(errorsOf(answer)).toEqual([{ field: 'ttl', message: 'cannot be changed for the console' }])
    const node = await lab.client.createNode({ name: 'agent', agentMayPublish: true })
    const wanted = { key: 'a', type: 'tcp', name: 'a', backendPort: 22, ttl: '1h' }
    const [publication] = await publishAs(lab.server, node.token, [wanted])
    const { ttl: _, ...lasting } = wanted
    const endsAt = new Date(Date.now() + DAY).toISOString()
    const [published] = await publishAs(lab.server, node.token, [{ ...lasting, endsAt }])
    const listed: Service[] = (await lab.client.get(`/api/services/${node.id}/tcp`)).json()
    expect([published?.state, listed[0]?.endsAt]).toEqual(['published', endsAt])
    expect(publication).toMatchObject({
      state: 'refused',
      errors: [
        {
          field: 'ttl',
          message: 'A source sends its services again and again: say when this one ends, as endsAt',
        },
      ],
    })
  })
})

describe('at its end', () => {
  it('a service is deleted within two seconds, as a change of the installation', async () => {
    const [short, long] = [await add({ name: 'short', ttl: 2 }), await add({ name: 'long', ttl: '60d' })]
    await until('its end', async () => !(await isThere(short)))
    expect(Math.abs(inMs(short))).toBeLessThan(10_000)
    expect(await isThere(long)).toBe(true)
    const { changes } = (await lab.client.get('/api/overview')).json()
    expect(changes[0]).toMatchObject({ actor: 'postern', what: 'service ended', name: 'short' })
  })

  it('an edit in time has kept it', async () => {
    const service = await add({ ttl: 1 })
    await lab.client.patch(urlOf(service), { endsAt: null })
    const other = await add({ ttl: 1 })
    await until('the end of another one', async () => !(await isThere(other)))
    expect(await isThere(service)).toBe(true)
  })
})

describe('a server that was away', () => {
  const other = fresh(startServiceLab)

  it('deletes everything that is overdue before it answers, in few changes', async () => {
    const { server, plain } = other
    const at = new Date(Date.now() + DAY).toISOString()
    await writeRows(server.context.db, async (tx, revision) => {
      for (let id = 0; id < 450; id++)
        await insertService(server.context, tx, {
          ...{
            type: 'http',
            node_id: plain,
            revision,
            name: `s${id}`,
            name_folded: `s${id}`,
            path: `/s${id}`,
          },
          ...{ domain_id: null, backend_proto: 'http', backend_host: null, backend_port: 80 },
          ...{ proto: null, port: null, ssl: null, skip_auth_routes: null },
          ...{ allowed_ips: '[]', blocked_ips: '[]', ends_at: id < 420 ? at : null },
        })
    })
    const before = await getRevision(server.context.db)
    await server.restart({}, () => {
      server.now = Date.now() + 2 * DAY
    })
    expect((await (await server.signIn()).get(`/api/services/${plain}/http`)).json()).toHaveLength(30)
    expect((await getRevision(server.context.db)) - before).toBeLessThan(6)
  })

  it('looks with one query, however many services there are', async () => {
    const { server, plain } = other
    await writeRows(server.context.db, async (tx, revision) => {
      for (let id = 0; id < 20_000; id++)
        await insertService(server.context, tx, {
          ...{ type: 'tcp', node_id: plain, revision, name: `s${id}`, name_folded: `s${id}`, path: null },
          ...{ domain_id: null, backend_proto: null, backend_host: null, backend_port: 80 },
          ...{ proto: 'tcp', port: id + 1, ssl: 0, skip_auth_routes: null },
          ...{ allowed_ips: '[]', blocked_ips: '[]' },
          ends_at: id % 2 ? new Date(Date.now() + DAY + id).toISOString() : null,
        })
    })
    const ofNone = async () => {
      for (let i = 0; i < 50; i++)
        server.context.bus.emit({ kind: 'changed', revision: 1, touched: { services: [] } })
      await until('the looks', () => true)
    }
    expect(await costMs(ofNone)).toBeLessThan(500)
    const client = await server.signIn()
    const form = { name: 'soon', domain: 'soon.example.com', skipValidation: true, ttl: 1 }
    const soon: Service = (await client.post(`/api/services/${plain}/http`, form)).json()
    await until('its end', async () => (await client.get(urlOf(soon))).statusCode === 404)
    expect(Math.abs(inMs(soon))).toBeLessThan(10_000)
  })
})
