import type { HistoryEntry } from '@postern/contract/history/history'
import { publishAs } from '@postern/testkit/agent-calls'
import { addPerson } from '@postern/testkit/people'

import { type Client, startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { makeApiToken } from '../../test/programs-lab.ts'
import { setNewPassword } from '../core/accounts/new-password.ts'
import { takeBackDue } from '../core/history/pending.ts'
import { verifyChain } from './verify.ts'

const BOUNDS = { entries: 40, bytes: 400_000, lookEvery: 5 }
const server = fresh(() => startTestServer({ world: { historyBounds: BOUNDS } }))
const admin = fresh(() => server.signIn())
const run = (statement: string) => sql.raw(statement).execute(server.context.db)
const verify = () => verifyChain(server.context.db)
const rows = () => server.context.db.selectFrom('changes').selectAll().orderBy('revision').execute()
const find = async (search: string): Promise<HistoryEntry[]> =>
  (await admin.get(`/api/history?search=${search}`)).json().data
const addresses = (list: number) =>
  Array.from({ length: 1000 }, (_, i) => `2001:db8:1:${list.toString(16)}:3:4:5:${(i + 0x1000).toString(16)}`)

/** A limited editor with a service, after changes of an administrator. */
async function begin() {
  const { id } = await admin.createNode({ name: 'theirs' })
  for (const name of ['a', 'b', 'c']) await admin.createNode({ name })
  const eve = await addPerson(server, 'eve', 'editor', { nodes: [id], domains: [] })
  const service = (await eve.post(`/api/services/${id}/tcp`, { name: 'svc', backendPort: 22 })).json()
  const url = `/api/services/${id}/tcp/${service.id}`
  return { node: id, eve, url }
}

async function flood(client: Client, url: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++)
    expect((await client.patch(url, { backendPort: 1000 + (i % 2000) })).statusCode).toBe(200)
}

async function floodBytes(client: Client, url: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++)
    expect((await client.patch(url, { allowedIps: addresses(i) })).statusCode).toBe(200)
}

async function expectOfAdmin(): Promise<void> {
  for (const name of ['theirs', 'a', 'b', 'c']) {
    const [entry] = (await find(`${name}&kind=node`)).filter((each) => each.name === name)
    expect(entry, name).toMatchObject({ actor: { name: 'admin' }, what: 'node created' })
    expect(entry?.records[0]?.after, name).toMatchObject({ enabled: true })
  }
}

describe('bytes', () => {
  it('of one who has most of them cost that one the oldest fields, and nobody else any', async () => {
    const { eve, url } = await begin()
    await floodBytes(eve, url, 20)
    await expectOfAdmin()
    const all = await rows()
    const stripped = all.filter(({ is_stripped }) => is_stripped === 1)
    expect(stripped.length).toBeGreaterThan(10)
    expect(new Set(stripped.map(({ actor }) => actor))).toEqual(new Set(['eve']))
    const ofEve = all.filter(({ actor, name }) => actor === 'eve' && name === 'svc')
    expect(ofEve.map(({ is_stripped }) => is_stripped)).toEqual(
      ofEve.map((_, index) => (index < stripped.length ? 1 : 0)),
    )
    const { bytes } = await server.context.db
      .selectFrom('change_chain')
      .select('bytes')
      .executeTakeFirstOrThrow()
    expect(bytes).toBeLessThanOrEqual(BOUNDS.bytes)
    expect(bytes).toBe(all.reduce((sum, row) => sum + row.bytes, 0))
    expect(await verify()).toMatchObject({ isWhole: true, entries: all.length, stripped: stripped.length })
  })

  it('that went are said in words, also by the undo, and only to administrators', async () => {
    const { eve, url } = await begin()
    await floodBytes(eve, url, 20)
    const [first] = (await rows()).filter(({ is_stripped }) => is_stripped === 1)
    const revision = first?.revision ?? 0
    const whole = (await admin.get(`/api/history/${revision}`)).json()
    const why = 'What was changed is no longer kept, so this cannot be taken back.'
    expect(whole).toMatchObject({ records: [], total: 1, whyNotUndone: why })
    const refused = await admin.post(`/api/history/${revision}/undo`)
    expect([refused.statusCode, refused.json().message]).toEqual([409, why])
    expect((await eve.get(`/api/history/${revision}`)).statusCode).toBe(404)
    const editor = await addPerson(server, 'ed', 'editor')
    expect((await editor.get(`/api/history/${revision}`)).statusCode).toBe(404)
  })

  it.each([
    [
      'another header of an entry without fields',
      `UPDATE changes SET actor = 'x' WHERE revision = (SELECT max(revision) FROM changes WHERE is_stripped)`,
    ],
    [
      'fields that somebody removed besides',
      `UPDATE changes SET is_stripped = 1, bytes = 0 WHERE name = 'a';
      DELETE FROM change_records WHERE revision IN (SELECT revision FROM changes WHERE is_stripped)`,
    ],
    [
      'fields that somebody put there',
      `INSERT INTO change_records (revision, position, kind, name)
      SELECT max(revision), 0, 'node', 'x' FROM changes WHERE is_stripped`,
    ],
  ])('let go hide no %s', async (_, statements) => {
    const { eve, url } = await begin()
    await floodBytes(eve, url, 20)
    expect(await verify()).toMatchObject({ isWhole: true })
    for (const one of statements.split(';')) await run(one)
    expect(await verify()).toMatchObject({ isWhole: false })
  })
})

describe('entries', () => {
  it('of one who has most of them become one that says how many, and nobody else loses any', async () => {
    const { eve, url } = await begin()
    await flood(eve, url, 20)
    await admin.createNode({ name: 'between' })
    await flood(eve, url, 60)
    await expectOfAdmin()
    expect(await find('between')).toHaveLength(1)
    const all = await rows()
    const folds = all.filter(({ folded }) => folded !== null)
    expect(folds.map(({ actor }) => actor)).toEqual(['eve', 'eve'])
    const gone = folds.reduce((sum, { folded }) => sum + (folded ?? 0), 0)
    const kept = all.length - folds.length
    expect(kept).toBeLessThanOrEqual(BOUNDS.entries + BOUNDS.lookEvery)
    expect(await verify()).toMatchObject({ isWhole: true, entries: kept, folded: gone })
    const ofEve = all.filter(({ actor, folded }) => actor === 'eve' && folded === null)
    expect(gone + ofEve.length).toBe(1 + 80)
    const words = (await find('longer')).at(-1)
    const day = new Date(server.now).toISOString().slice(0, 10)
    expect(words).toMatchObject({
      what: `${folds[0]?.folded} changes of ${day}, no longer kept`,
      actor: { name: 'eve', kind: 'person', id: eve.userId },
    })
    const why = (await admin.get(`/api/history/${words?.revision}`)).json().whyNotUndone
    expect(why).toMatch(/no longer kept/)
    expect((await eve.get(`/api/history/${words?.revision}`)).statusCode).toBe(404)
  })

  it('by the tokens of one person are of one share', async () => {
    const { url, node } = await begin()
    const clients = [await addPerson(server, 'bob', 'editor'), await addPerson(server, 'tim', 'editor')]
    for (let i = 0; i < 6; i++) {
      const token = await makeApiToken(admin, { name: `t${i}` })
      await flood(server.as(token.token), url, 10)
      for (const client of clients)
        await client.post(`/api/services/${node}/tcp`, { name: `s${i}`, backendPort: 1 })
    }
    const all = (await rows()).filter(({ folded }) => folded === null)
    // Each token has less than they, and its person more.
    for (const name of ['bob', 'tim']) expect(all.filter(({ actor }) => actor === name)).toHaveLength(6)
    expect(await verify()).toMatchObject({ isWhole: true })
  })

  it('that take back what one did count to that one', async () => {
    const { eve, url } = await begin()
    const headers = { authorization: `Bearer ${eve.token}`, 'take-back-after': '10' }
    await server.call({ method: 'PATCH', url, headers, payload: { backendPort: 99 } })
    server.now += 11_000
    await takeBackDue(server.context)
    expect((await rows()).at(-1)).toMatchObject({
      ...{ actor: 'postern', actor_kind: 'installation', share: `person ${eve.userId}` },
      what: expect.stringMatching(/^undid revision/),
    })
    expect(await verify()).toMatchObject({ isWhole: true })
  })

  it('by nodes are of one share, and the node with most of them loses first', async () => {
    await begin()
    const nodes = []
    for (const name of ['n1', 'n2']) nodes.push(await admin.createNode({ name, agentMayPublish: true }))
    const [loud, calm] = nodes
    const publish = (token: string, port: number, i: number) =>
      publishAs(server, token, [{ key: 'k', name: 'k', type: 'tcp', port, backendPort: 100 + i }])
    for (let i = 0; i < 4; i++)
      expect(await publish(calm?.token ?? '', 32664, i)).toMatchObject([{ state: 'published' }])
    for (let i = 0; i < 60; i++) await publish(loud?.token ?? '', 32665, i)
    const all = await rows()
    const of = (id?: number) =>
      all.filter((row) => row.folded === null && row.actor_kind === 'node' && row.actor_id === id)
    expect(of(calm?.id).length).toBeGreaterThanOrEqual(4)
    expect(all.some(({ folded, actor_id }) => folded !== null && actor_id === loud?.id)).toBe(true)
    await expectOfAdmin()
    expect(await verify()).toMatchObject({ isWhole: true })
  })

  it('of two beside each other become one of both', async () => {
    const { eve, url } = await begin()
    const bob = await addPerson(server, 'bob', 'editor')
    for (let i = 0; i < 50; i++) {
      await flood(eve, url, 1)
      await flood(bob, url, 1)
    }
    await expectOfAdmin()
    const all = await rows()
    expect(all.length).toBeLessThanOrEqual(2 * (BOUNDS.entries + BOUNDS.lookEvery) + 1)
    expect(all.some(({ actor, actor_kind }) => actor === 'eve and others' && actor_kind === null)).toBe(true)
    expect(await verify()).toMatchObject({ isWhole: true })
  })

  it.each([
    ['another number', 'UPDATE changes SET folded = folded - 1 WHERE folded IS NOT NULL'],
    ['another actor', `UPDATE changes SET actor = 'x' WHERE folded IS NOT NULL`],
    ['another time', `UPDATE changes SET first_at = '2026-01-01' WHERE folded IS NOT NULL`],
    ['another hash', `UPDATE changes SET before_hash = 'x' WHERE folded IS NOT NULL`],
    ['none at all', 'DELETE FROM changes WHERE folded IS NOT NULL'],
    ['the newest are missing', 'DELETE FROM changes WHERE revision = (SELECT max(revision) FROM changes)'],
  ])('that became one hide no change: %s', async (_, statement) => {
    const { eve, url } = await begin()
    await flood(eve, url, 60)
    expect(await verify()).toMatchObject({ isWhole: true })
    await run(statement)
    expect(await verify()).toMatchObject({ isWhole: false })
  })
})

describe('by way of the installation', () => {
  it('the ends of services cost those who set them, and neither the host nor others', async () => {
    const { node, eve } = await begin()
    await setNewPassword(server.context.db, 'a new password', { memory: 8, passes: 1 })
    const soon = new Date(Date.now() + 1500).toISOString()
    for (let i = 0; i < BOUNDS.entries; i++)
      await eve.post(`/api/services/${node}/tcp`, { name: `s${i}`, backendPort: 22, endsAt: soon })
    await until('their ends', async () => (await eve.get('/api/services')).json().length === 1)
    const all = await rows()
    expect(all.map(({ what }) => what)).toContain('person given a new password')
    // Once its records are gone, nobody can tell who set an end.
    for (const { share } of all.filter(({ what }) => /ended/.test(what)))
      expect(['ends', `person ${eve.userId}`]).toContain(share)
  })

  it('the head of an export stays, whatever others do', async () => {
    const { eve, url } = await begin()
    await flood(eve, url, 3)
    const lines = (await admin.get('/api/history/export?format=jsonl')).body.trim().split('\n')
    const { head } = JSON.parse(lines.at(-1) ?? '{}')
    await flood(eve, url, 3 * BOUNDS.entries)
    const [entry] = (await rows()).filter(({ hash }) => hash === head.hash)
    expect(entry).toMatchObject({ what: 'history exported', actor: 'admin', folded: null })
    expect(await verify()).toMatchObject({ isWhole: true })
  })
})
