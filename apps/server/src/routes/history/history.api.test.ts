import type { HistoryEntry, HistoryPage } from '@postern/contract/history/history'
import { type Client, startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { expect, it, test } from 'vitest'
import { hashToken } from '../../core/secrets/secrets.ts'

const server = shared(startTestServer)
const client = shared(() => server.signIn())
const list = async (query = '', as: Client = client): Promise<HistoryPage> => {
  const answer = await as.get(`/api/history${query}`)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}
const newest = async (): Promise<HistoryEntry | undefined> => (await list('?limit=1')).data[0]

const made = shared(async () => {
  const office = await client.createNode({ name: 'office' })
  const lab = await client.createNode({ name: 'lab' })
  const form = { name: 'wiki', backendPort: 8080, domain: 'wiki.example.com', skipValidation: true }
  const wiki = (await client.post(`/api/services/${office.id}/http`, form)).json()
  const [domain] = (await client.get('/api/domains')).json()
  await client.post(`/api/services/${lab.id}/tcp`, { name: 'db', backendPort: 5432 })
  return { office, lab, wiki, domain }
})

it('says what was before and after of the fields that differ, by the names of the form', async () => {
  const { office, wiki } = made
  const lists = { allowedIps: ['203.0.113.7', '198.51.100.0/24'] }
  await client.patch(`/api/services/${office.id}/http/${wiki.id}`, { backendPort: 8081, ...lists })
  expect(await newest()).toMatchObject({
    actor: { kind: 'person', name: 'admin' },
    ...{ what: 'service updated', name: 'wiki', total: 1 },
    records: [
      {
        ...{ kind: 'service', id: wiki.id, nodeId: office.id, name: 'wiki', isCut: false },
        before: { backendPort: 8080, allowedIps: [] },
        after: { backendPort: 8081, ...lists },
      },
    ],
  })
})

it('has all fields of what is new and of what is deleted, with names instead of ids', async () => {
  const { lab } = made
  const { id } = (await client.post(`/api/services/${lab.id}/tcp`, { name: 'gone', backendPort: 22 })).json()
  const whole = { name: 'gone', node: 'lab', domain: null, backendPort: 22, enabled: true, type: 'tcp' }
  expect((await newest())?.records[0]).toMatchObject({ before: null, after: whole })
  await client.delete(`/api/services/${lab.id}/tcp/${id}`)
  expect((await newest())?.records[0]).toMatchObject({ before: whole, after: null })
})

test('a change of many has a record of each', async () => {
  const records = await Promise.all(
    Array.from({ length: 12 }, async (_, i) => {
      const { id } = (
        await client.post(`/api/services/${made.lab.id}/tcp`, { name: `m${i}`, backendPort: 80 })
      ).json()
      return { id }
    }),
  )
  await client.post('/api/services/many', { action: 'disable', records })
  const entry = await newest()
  expect(entry).toMatchObject({ what: '12 services disabled', total: 12 })
  expect(entry?.records).toHaveLength(10)
  const whole: HistoryEntry = (await client.get(`/api/history/${entry?.revision}`)).json()
  expect(whole.records).toHaveLength(12)
  expect(whole.records[11]).toMatchObject({ before: { enabled: true }, after: { enabled: false } })
  // The one that is asked for is among those that a list has.
  const last = records.at(-1)?.id ?? 0
  const [found] = (await list(`?kind=service&id=${last}&limit=1`)).data
  expect(found?.records[0]?.id).toBe(last)
})

it('is filtered and searched, and goes on after the last one', async () => {
  const { office, lab, wiki, domain } = made
  const whats = async (query: string) => (await list(query)).data.map(({ what, name }) => `${what} ${name}`)
  expect(await whats(`?kind=service&id=${wiki.id}`)).toEqual(['service updated wiki', 'service created wiki'])
  expect(await whats(`?node=${office.id}`)).toEqual([
    'service updated wiki',
    'service created wiki',
    'node created office',
  ])
  expect(await whats(`?domain=${domain.domain}`)).toEqual(['service updated wiki', 'service created wiki'])
  expect(await whats('?search=WIKI.exam')).toEqual(['service created wiki'])
  expect(await whats('?actor=nobody')).toEqual([])
  expect(await whats('?actor=admin&kind=node')).toEqual(['node created lab', 'node created office'])
  expect(await whats('?to=2001-01-01T00:00:00Z')).toEqual([])
  const all = (await list()).data
  const revisions: number[] = []
  let next: number | null | undefined
  while (next !== null) {
    const page: HistoryPage = await list(`?limit=7${next === undefined ? '' : `&before=${next}`}`)
    revisions.push(...page.data.map(({ revision }) => revision))
    next = page.next
  }
  expect(revisions).toEqual(all.map(({ revision }) => revision))
  expect(await whats(`?from=${all[0]?.at}`)).not.toEqual([])
  expect((await client.get('/api/history?kind=S;')).statusCode).toBe(422)
  expect((await client.get('/api/history/999999')).statusCode).toBe(404)
  expect(await whats(`?node=${lab.id}&limit=1`)).toHaveLength(1)
})

/** A person with a session, straight in the database. */
async function person(
  username: string,
  role: 'admin' | 'editor' | 'viewer',
  nodes?: number[],
): Promise<Client> {
  const { db } = server.context
  const at = new Date().toISOString()
  const dated = { created_at: at, updated_at: at }
  const { id } = await db
    .insertInto('users')
    .values({ username, password_hash: null, role, is_limited: nodes ? 1 : 0, ...dated })
    .returning('id')
    .executeTakeFirstOrThrow()
  for (const node_id of nodes ?? [])
    await db.insertInto('user_nodes').values({ user_id: id, node_id }).execute()
  const token = `pts_${username}`
  const expires_at = Date.now() + 3_600_000
  await db
    .insertInto('sessions')
    .values({
      token_hash: hashToken(token),
      key_hash: null,
      user_id: id,
      host: '',
      expires_at,
      created_at: at,
    })
    .execute()
  return server.as(token)
}

it('shows a person what is about what that person may see, and settings only to administrators', async () => {
  const { office, lab } = made
  expect((await client.patch('/api/settings', { POSTERN_REQUESTS_DAYS: '6' })).statusCode).toBe(200)
  const settings = await newest()
  expect(settings?.records[0]).toMatchObject({ kind: 'setting', name: 'POSTERN_REQUESTS_DAYS' })
  const viewer = await person('vera', 'viewer')
  const whole = (await list('', viewer)).data
  expect(whole.map(({ what }) => what)).toContain('service updated')
  expect(whole.map(({ what }) => what)).not.toContain('settings updated')
  expect((await viewer.get(`/api/history/${settings?.revision}`)).statusCode).toBe(404)
  expect((await list('?search=POSTERN_REQUESTS', viewer)).data).toEqual([])
  const limited = await person('lim', 'editor', [office.id])
  const own = (await list('', limited)).data
  expect(own.map(({ name }) => name)).toEqual(['wiki', 'wiki', 'office'])
  expect(own.map(({ address }) => address)).toEqual([null, null, null])
  expect((await list('?search=lab', limited)).data).toEqual([])
  // A change of both: only what is their own.
  const records = [{ id: office.id }, { id: lab.id }]
  await client.post('/api/nodes/many', { action: 'disable', records })
  const [both] = (await list('?limit=1', limited)).data
  expect(both).toMatchObject({ total: 1, records: [{ name: 'office' }] })
  await client.post('/api/nodes/many', { action: 'enable', records })
})

it('is exported as JSON lines with the head of the chain, and as CSV that no spreadsheet runs', async () => {
  await client.createNode({ name: '=1+1' })
  const lines = (await client.get('/api/history/export?format=jsonl')).body.trim().split('\n')
  const parsed = lines.map((line) => JSON.parse(line))
  const head = parsed.at(-1).head
  expect(head).toEqual({ revision: parsed[0].revision, hash: parsed[0].hash })
  expect(head.hash).toMatch(/^[0-9a-f]{64}$/)
  expect(parsed.length - 1).toBe((await list('?limit=100')).data.length)
  const answer = await client.get(`/api/history/export?format=csv&node=${made.office.id}`)
  expect(answer.headers['content-type']).toContain('text/csv')
  expect(answer.body.split('\r\n')[0]).toBe(
    'revision,time,actor_kind,actor,address,what,name,kind,id,record,before,after,hash',
  )
  expect(answer.body).toContain('service created,wiki,service')
  const formulas = (await client.get('/api/history/export?format=csv&search==1%2B1')).body
  expect(formulas).toContain(",'=1+1,")
  const viewer = await person('vic', 'viewer')
  expect((await viewer.get('/api/history/export?format=jsonl')).body).not.toContain('"head"')
})
