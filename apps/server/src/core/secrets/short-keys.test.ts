import { randomBytes } from 'node:crypto'
import { fresh } from '@postern/testkit/shared'
import { expect, test } from 'vitest'
import { openDatabase } from '../../db/open.ts'
import { createSecrets } from './secrets.ts'
import { type KeyPurpose, LONGEST_SECONDS, loadShortKeys } from './short-keys.ts'

const MINUTE = 60_000
const db = fresh(
  () => openDatabase(':memory:'),
  (opened) => opened.destroy(),
)
const key = randomBytes(32)

/** The keys of a server that starts at one minute, as it has them at another. */
async function start(from: number, secretKey = key) {
  let now = from * MINUTE
  const keys = await loadShortKeys({
    ...{ db, secrets: createSecrets(secretKey), randomBytes, clock: () => now },
    log: { error: (...args: unknown[]) => expect.fail(String(args)) },
  })
  return async (minute: number, purpose: KeyPurpose = 'stream ticket') => {
    now = minute * MINUTE
    const found = keys
      .of(purpose)()
      .map((each) => each.toString('hex'))
    await keys.close()
    return found
  }
}

test('a restart finds the same keys, each purpose has its own, and another installation has others', async () => {
  const keysAt = await start(0)
  const [made] = await keysAt(0)
  expect(await keysAt(0, 'domain proof')).not.toEqual([made])
  expect(await (await start(14))(14)).toEqual([made])
  expect(await (await start(14, randomBytes(32)))(14)).not.toContain(made)
})

test('a key seals for a quarter of an hour, and opens for as long as what it has sealed', async () => {
  expect(LONGEST_SECONDS).toBe(15 * 60)
  const keysAt = await start(0)
  const [first] = await keysAt(0)
  expect(await keysAt(14)).toEqual([first])
  const [second, ...older] = await keysAt(15)
  expect([second === first, older]).toEqual([false, [first]])
  const restarted = await start(29)
  expect(await restarted(29)).toEqual([second, first])
  expect(await restarted(30)).not.toContain(first)
  expect(await restarted(24 * 60)).not.toContain(second)
})

test('keys from before the clock was set back count for no longer', async () => {
  const keysAt = await start(60)
  const [first] = await keysAt(60)
  expect(await keysAt(30)).not.toContain(first)
})
