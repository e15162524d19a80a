import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { useOrderDesk, VALID } from '@postern/testkit/authority/order-desk'
import { startPebble } from '@postern/testkit/authority/pebble'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { expect, test } from 'vitest'

const desk = useOrderDesk()

/** 32 bytes, as authorities give them out. */
const EAB_SECRET = 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG'

async function set(form: object) {
  const answer = await desk.client.patch('/api/settings', form)
  return answer.statusCode === 200 ? 'set' : answer.json().errors
}

test('another authority is asked first, and then signs all, also what was under way at the previous one', async () => {
  const { httpPort, names } = desk
  const other = await startPebble({
    ...{ httpPort, nameServer: names.address },
    bindings: { 'kid-1': EAB_SECRET },
  })
  try {
    const caFile = join(tempDir(), 'ca.pem')
    writeFileSync(caFile, readFileSync(desk.pebble.caFile, 'utf8') + readFileSync(other.caFile, 'utf8'))
    await desk.stop()
    await desk.start({ settings: { POSTERN_ACME_DIRECTORY: '', POSTERN_ACME_CA_FILE: caFile } })
    const nowhere = 'https://127.0.0.2:9/dir'
    expect(await set({ POSTERN_ACME_DIRECTORY: nowhere })).toEqual([
      { field: 'POSTERN_ACME_DIRECTORY', message: expect.stringContaining('127.0.0.2') },
    ])
    expect(await set({ POSTERN_ACME_DIRECTORY: desk.front.directory, POSTERN_ACME_PROFILE: 'none' })).toEqual(
      [{ field: 'POSTERN_ACME_PROFILE', message: expect.stringContaining('offers no profile none') }],
    )
    expect(await set({ POSTERN_ACME_DIRECTORY: desk.front.directory })).toBe('set')
    const id = await desk.create('move.example.com')
    const { issuer } = await desk.whenIs(id, VALID)
    const first = await desk.shown('move.example.com')
    desk.front.intercept = ({ url }) => (url === '/order-plz' ? 'hang' : undefined)
    const waiting = await desk.create('waits.example.com')
    await desk.whenIs(waiting, { step: 'ordering' })

    const form = { POSTERN_ACME_DIRECTORY: other.directory, POSTERN_ACME_EMAIL: 'ops@example.com' }
    expect(await set(form)).toEqual([
      { field: 'POSTERN_ACME_EAB_KID', message: expect.stringContaining('enter the key id') },
    ])
    const binding = { POSTERN_ACME_EAB_KID: 'kid-1', POSTERN_ACME_EAB_HMAC: EAB_SECRET }
    expect(await set({ ...form, ...binding })).toBe('set')
    expect((await desk.shown('move.example.com')).serialNumber).toBe(first.serialNumber)
    await until(
      'the other to have signed',
      async () => (await desk.shown('move.example.com')).serialNumber !== first.serialNumber,
    )
    expect((await desk.whenIs(waiting, VALID)).issuer).not.toBe(issuer)
    expect(desk.server.logged()).not.toContain(EAB_SECRET)
  } finally {
    await other.close()
  }
})
