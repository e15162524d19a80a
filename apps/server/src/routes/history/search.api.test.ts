import type { HistoryPage } from '@postern/contract/history/history'
import { addPerson } from '@postern/testkit/people'
import { type Client, startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { UNLIMITED } from '../../core/access/access.ts'
import { listHistory } from '../../core/history/history.ts'

const server = fresh(() => startTestServer())
const client = fresh(() => server.signIn())
const read = async (query: string, as: Client = client): Promise<HistoryPage> =>
  (await as.get(`/api/history?${query}`)).json()
const whats = async (query: string, as: Client = client) =>
  (await read(query, as)).data.map(({ what, name }) => `${what} ${name}`)
const search = (text: string, as: Client = client) => whats(`search=${encodeURIComponent(text)}`, as)

async function publish(nodeId: number, over: object = {}) {
  const form = { name: 'db', backendPort: 5432, allowedIps: ['203.0.113.7'], ...over }
  const { id } = (await client.post(`/api/services/${nodeId}/tcp`, form)).json()
  return { id: id as number, url: `/api/services/${nodeId}/tcp/${id}` }
}
const move = async (id: number, nodeId: number) => {
  const form = { action: 'move', records: [{ id }], to: { nodeId } }
  expect((await client.post('/api/services/many', form)).json().done).toHaveLength(1)
}
const limitedTo = (nodes: number[]) => addPerson(server, 'lim', 'editor', { nodes, domains: [] })

describe('a service that was moved', () => {
  async function moved() {
    const { id: office } = await client.createNode({ name: 'office' })
    const { id: lab } = await client.createNode({ name: 'lab' })
    const { id: other } = await client.createNode({ name: 'other' })
    const { id, url } = await publish(office)
    await publish(other, { name: 'apart' })
    await client.patch(url, { backendPort: 5433 })
    await move(id, lab)
    await client.patch(`/api/services/${lab}/tcp/${id}`, { backendPort: 5434 })
    return { office, lab, other, id }
  }

  it('is in the history of both nodes', async () => {
    const { office, lab, other } = await moved()
    const all = [
      'service updated db',
      expect.stringMatching(/moved/),
      'service updated db',
      'service created db',
    ]
    expect(await whats(`node=${office}`)).toEqual([...all, 'node created office'])
    expect(await whats(`node=${lab}`)).toEqual([...all, 'node created lab'])
    expect(await whats(`node=${other}`)).toEqual(['service created apart', 'node created other'])
  })

  it('shows a limited person only what was on their node, and not where it came from', async () => {
    const { office, lab } = await moved()
    const came = await limitedTo([lab])
    const body = JSON.stringify(await read('', came))
    expect(await whats(`node=${lab}`, came)).toEqual([
      'service updated db',
      expect.stringMatching(/moved/),
      'node created lab',
    ])
    expect(body).not.toContain('office')
    expect(await search('office', came)).toEqual([])
    const [, entry] = (await read(`node=${lab}`, came)).data
    expect(entry?.records[0]).toMatchObject({ before: { node: null }, after: { node: 'lab' } })
    const lines = (await came.get('/api/history/export?format=jsonl')).body
    expect(lines).not.toContain('office')
    const whole = await came.get(`/api/history/${entry?.revision}`)
    expect([whole.statusCode, whole.body.includes('office')]).toEqual([200, false])
    expect(await whats(`node=${office}`, came)).toEqual([])
  })

  it('is gone for a person who is limited to the node that it left', async () => {
    const { office } = await moved()
    const left = await limitedTo([office])
    expect(await whats(`node=${office}`, left)).toEqual([
      'service updated db',
      'service created db',
      'node created office',
    ])
    expect(JSON.stringify(await read('', left))).not.toContain('lab')
  })
})

describe('the search', () => {
  it('finds values before and after, in lists and numbers, and no names of fields', async () => {
    const { id: office } = await client.createNode({ name: 'office' })
    const { url } = await publish(office)
    await client.patch(url, { allowedIps: ['198.51.100.0/24'] })
    expect(await search('198.51.100')).toEqual(['service updated db'])
    expect(await search('203.0.113.7')).toEqual(['service updated db', 'service created db'])
    expect(await search('5432')).toEqual(['service created db'])
    for (const field of ['backendPort', 'allowedIps', 'presharedKey']) expect(await search(field)).toEqual([])
  })

  it('takes every text as it is', async () => {
    const name = 'a "quoted" \\ back % _ ünï 名前'
    const { id: office } = await client.createNode({ name: 'office' })
    const { url } = await publish(office, { name: 'plain' })
    await client.patch(url, { name })
    await client.patch(url, { name: 'plain again' })
    for (const text of ['"quoted"', '\\ back', '% _', 'ünï', '名前', 'A "QUOTED"'])
      expect(await search(text), text).toEqual(['service updated plain again', `service updated ${name}`])
    for (const text of ["' OR 1=1 --", '$.name', '{"name"', 'x%', '\\u0000'])
      expect(await search(text), text).toEqual([])
  })

  it('finds no secret: there is none', async () => {
    const { token } = await client.createNode({ name: 'office' })
    const { rows } = await sql<{ password_hash: string }>`SELECT password_hash FROM users`.execute(
      server.context.db,
    )
    for (const secret of [token, rows[0]?.password_hash ?? '']) expect(await search(secret)).toEqual([])
  })

  it('finds for a limited person only what they see', async () => {
    const { id: office } = await client.createNode({ name: 'office' })
    const { id: lab } = await client.createNode({ name: 'lab' })
    await publish(office, { name: 'mine', backendPort: 7001 })
    await publish(lab, { name: 'theirs', backendPort: 7001 })
    const records = [{ id: office }, { id: lab }]
    await client.post('/api/nodes/many', { action: 'disable', records })
    const limited = await limitedTo([office])
    expect(await search('7001', limited)).toEqual(['service created mine'])
    expect(await search('7001')).toEqual(['service created theirs', 'service created mine'])
    const { length } = await search('office', limited)
    expect(length).toBeGreaterThan(0)
    expect(await search('lab', limited)).toEqual([])
    // What is about people is for administrators.
    expect(await search('lim', limited)).toEqual([])
  })

  it('goes back for a while, and on from there with the next request', async () => {
    const { db } = server.context
    await publish((await client.createNode({ name: 'office' })).id)
    const made = (await read('search=5432')).data[0]?.revision ?? 0
    await sql`WITH RECURSIVE n (i) AS (SELECT ${made + 1} UNION ALL SELECT i + 1 FROM n WHERE i < 35000)
      INSERT INTO changes (revision, at, actor, what, name)
      SELECT i, '2026-01-01T00:00:00.000Z', 'admin', 'node updated', 'x' FROM n WHERE i > (SELECT latest FROM revisions)`.execute(
      db,
    )
    expect((await read('search=5432')).data).toMatchObject([{ revision: made }])
    const found: number[] = []
    let before: number | undefined
    let steps = 0
    do {
      const query = { search: '5432', limit: 50, ...(before !== undefined && { before }) }
      const page = await listHistory({ db }, UNLIMITED, query, 0)
      found.push(...page.data.map(({ revision }) => revision))
      before = page.next ?? undefined
      steps++
    } while (before !== undefined)
    expect([found, steps]).toEqual([[made], 4])
  })
})
