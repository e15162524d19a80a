import { cpSync } from 'node:fs'
import { join } from 'node:path'
import type { TestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { tempDir } from '@postern/testkit/temp-dir'
import { beforeEach, describe, expect, it } from 'vitest'
import { startConsoleSignInLab, ticketOf } from '../../../test/console-sign-in-lab.ts'
import { claimsOf, pathOf, startSignInLab } from '../../../test/sign-in-lab.ts'
import { createTickets } from '../../core/accounts/tickets.ts'
import { rotateSecretKey } from '../../core/secrets/key-rotation.ts'
import { renewAllSecrets } from '../../core/secrets/renew-all.ts'
import { openSecrets } from '../../core/secrets/sealed-rows.ts'
import { loadShortKeys } from '../../core/secrets/short-keys.ts'
import { openDatabase } from '../../db/open.ts'

/** Between two starts, like `npm run rotate-key -- --all`. */
async function rotateAll({ context }: TestServer): Promise<void> {
  const { database, secretKey } = context.config.paths
  const db = openDatabase(database, false)
  await renewAllSecrets({ ...context, db, secrets: await openSecrets(db, secretKey, true) })
  await rotateSecretKey(db, secretKey)
  await db.destroy()
}

describe('a visitor whose server restarts', () => {
  const lab = fresh(startSignInLab)

  it('comes in, whenever it does', async () => {
    const browser = lab.browser()
    const address = await lab.begin(browser, '/deep?x=1')
    await lab.server.restart()
    const { location } = await lab.passProvider(address)
    await lab.server.restart()
    expect((await browser.open(pathOf(location))).headers.location).toBe('https://a.example.com/deep?x=1')
    expect(claimsOf(browser)).toMatchObject({ email: 'ann@example.com' })
  })

  it('uses a ticket once, before and after', async () => {
    const browser = lab.browser()
    const { location } = await lab.passProvider(await lab.begin(browser, '/'))
    const copy = lab.browser()
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value)
    expect((await browser.open(pathOf(location))).statusCode).toBe(302)
    await lab.server.restart()
    expect((await copy.open(pathOf(location))).statusCode).toBe(403)
    expect(copy.cookies.has('__Host-postern')).toBe(false)
    const used = () => lab.server.context.db.selectFrom('used_tickets').select('id').execute()
    expect(await used()).toHaveLength(1)
    // It is forgotten when it would be too old anyway.
    lab.time.now += 61_000
    await lab.signIn(lab.browser())
    expect(await used()).toHaveLength(1)
  })

  it('begins again after all keys were renewed', async () => {
    const browser = lab.browser()
    const address = await lab.begin(browser, '/')
    const second = lab.browser()
    const { location } = await lab.passProvider(await lab.begin(second, '/'))
    await lab.server.restart({}, () => rotateAll(lab.server))
    expect((await lab.passProvider(address)).answer.statusCode).toBe(403)
    expect((await second.open(pathOf(location))).statusCode).toBe(403)
    expect((await lab.signIn(lab.browser())).statusCode).toBe(302)
  })
})

it('strangers write nothing of the sign-ins that they begin, or end with invented tickets', async () => {
  const lab = await startSignInLab()
  const browser = lab.browser()
  await lab.begin(browser, '/')
  await browser.open('/.postern/arrive?ticket=v2.x.y.z')
  await lab.browser('203.0.113.1').open('/.postern/callback?code=x&state=v2.x.y.z')
  expect(await lab.server.context.db.selectFrom('used_tickets').selectAll().execute()).toEqual([])
  await lab.close()
})

describe('a person at the console whose server restarts', () => {
  const lab = fresh(startConsoleSignInLab)
  let provider: number
  beforeEach(async () => {
    const rules = [{ claim: 'groups', value: 'admins', role: 'admin' as const }]
    provider = (await lab.addProvider({ makesAccounts: true, rules })).id
  })

  it('comes in by a provider, once, whenever it does', async () => {
    const browser = lab.browser()
    const address = await browser.begin(provider)
    await lab.server.restart()
    const ticket = ticketOf(await browser.pass(address, 'ann'))
    await lab.server.restart()
    expect((await browser.finish(ticket)).statusCode).toBe(200)
    await lab.server.restart()
    expect((await browser.finish(ticket)).json()).toMatchObject({ code: 'sign_in_over' })
  })

  it('begins again after all keys were renewed', async () => {
    const browser = lab.browser()
    const address = await browser.begin(provider)
    const ticket = ticketOf(await browser.pass(await browser.begin(provider), 'ann'))
    await lab.server.restart({}, () => rotateAll(lab.server))
    expect(ticketOf(await browser.pass(address, 'ann'))).toBe('')
    expect((await browser.finish(ticket)).json()).toMatchObject({ code: 'sign_in_over' })
  })

  it('follows streams with the ticket of before', async () => {
    const ticket = (await lab.admin.post('/api/auth/ticket')).json().ticket
    await lab.server.restart()
    expect(lab.server.context.tickets.findSessionId(ticket)).toBeTypeOf('number')
    await lab.server.restart({}, () => rotateAll(lab.server))
    expect(lab.server.context.tickets.findSessionId(ticket)).toBeUndefined()
  })

  it('is safe from who has a copy of key and database, half an hour after it was made', async () => {
    const begun = Date.now()
    lab.server.now = begun
    const real = lab.server.context.tickets
    const session = real.findSessionId((await lab.admin.post('/api/auth/ticket')).json().ticket) ?? 0
    const copy = tempDir()
    await lab.server.restart({}, () => cpSync(lab.server.dataDir, copy, { recursive: true }))
    const db = openDatabase(join(copy, 'server/postern.db'), false)
    const secrets = await openSecrets(db, join(copy, 'server/secret.key'), true)
    const keys = await loadShortKeys({ ...lab.server.context, db, secrets })
    const lasting = createTickets(keys.of('stream ticket'), () => begun + 86_400_000).issue(session)
    // As it would be with a key that stays.
    expect(lab.server.context.tickets.findSessionId(lasting)).toBe(session)
    await keys.close()
    await db.destroy()
    lab.server.now = begun + 30 * 60_000
    expect(lab.server.context.tickets.findSessionId(lasting)).toBeUndefined()
  })
})
