import { msOf, useOrderDesk, VALID } from '@postern/testkit/authority/order-desk'
import { startPebble } from '@postern/testkit/authority/pebble'
import { until } from '@postern/testkit/until'
import { expect, test } from 'vitest'

const desk = useOrderDesk()

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
const DOMAIN = 'app.example.com'

/**
 * Moves the clock from try to try.
 * @returns how long the wait before each was
 */
async function waitThrough(id: number, isEnough: (waits: readonly number[]) => boolean): Promise<number[]> {
  const waits: number[] = []
  let last = ''
  while (!isEnough(waits)) {
    const failed = await until('the next failure', async () => {
      const certificate = await desk.read(id)
      return (
        certificate.step === null && certificate.problem && certificate.problem.at !== last && certificate
      )
    })
    last = failed.problem?.at ?? ''
    // The certificate in use has not changed.
    expect(failed).toMatchObject({ status: 'valid', kind: 'certbot', problem: { code: 'authority' } })
    const next = msOf(failed.nextTryAt)
    waits.push(next - msOf(last))
    await desk.setAhead(Math.max(next - Date.now(), desk.ahead) + 1000)
  }
  return waits
}

const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0)

test.each([
  ['is down', undefined],
  ['answers garbage', { status: 200, body: '<html>' }],
  ['has an error page', { status: 502, body: '<html>' }],
])(
  'when the authority %s for an hour, the certificate stays, and is renewed soon after',
  async (_, answer) => {
    const id = await desk.create(DOMAIN)
    await desk.whenIs(id, VALID)
    const first = await desk.shown(DOMAIN)
    const bringBack = answer === undefined ? await desk.takeDown() : undefined
    desk.front.intercept = () => answer
    await desk.setAhead(61 * DAY)
    const waits = await waitThrough(id, (all) => sum(all) > HOUR)
    for (const [index, wait] of waits.entries()) {
      expect(wait).toBeLessThanOrEqual(MINUTE * 2 ** index)
      expect(wait).toBeGreaterThanOrEqual(MINUTE * 2 ** index * 0.75)
    }
    expect((await desk.shown(DOMAIN)).serialNumber).toBe(first.serialNumber)
    await bringBack?.()
    desk.front.intercept = () => undefined
    // By itself, with the next try; one may be under way.
    await until('the renewal', async () => {
      const { step, problem, nextTryAt } = await desk.read(id)
      if (nextTryAt !== null) await desk.setAhead(msOf(nextTryAt) - Date.now() + 1000)
      return step === null && problem === null
    })
    expect((await desk.shown(DOMAIN)).serialNumber).not.toBe(first.serialNumber)
    expect((await desk.orders())[0]?.failures).toBe(0)
  },
)

test('the waits grow up to a day', async () => {
  const id = await desk.create(DOMAIN)
  await desk.whenIs(id, VALID)
  desk.front.intercept = () => ({ status: 500, body: 'no' })
  await desk.setAhead(61 * DAY)
  const waits = await waitThrough(id, (all) => all.length === 13)
  for (const wait of waits.slice(11)) {
    expect(wait).toBeLessThanOrEqual(DAY)
    expect(wait).toBeGreaterThanOrEqual(DAY * 0.75)
  }
})

test('a domain that fails again and again does not delay another', async () => {
  desk.names.answers.set('lost.example.com', 'none')
  const lost = await desk.create('lost.example.com')
  await desk.whenIs(lost, { status: 'failed' })
  const well = await desk.create('well.example.com')
  await desk.whenIs(well, VALID)
  const next = msOf((await desk.read(lost)).nextTryAt)
  await desk.setAhead(next - Date.now() + 1000)
  await until('the second failure', async () => (await desk.orders())[0]?.failures === 2)
  expect(await desk.read(well)).toMatchObject(VALID)
})

test('the data of a previous authority is removed once none of its certificates is in use', async () => {
  const id = await desk.create(DOMAIN)
  await desk.whenIs(id, VALID)
  const other = await startPebble({ httpPort: desk.httpPort, nameServer: desk.names.address })
  const settings = { POSTERN_ACME_DIRECTORY: other.directory, POSTERN_ACME_CA_FILE: other.caFile }
  const keysOf = async (directory: string) => {
    const rows = await desk.server.context.db.selectFrom('settings').select('key').orderBy('key').execute()
    return rows
      .map(({ key }) => key)
      .filter((key) => key.startsWith('acme.') && key.endsWith(` ${directory}`))
  }
  const { directory } = desk.front
  try {
    const first = await desk.shown(DOMAIN)
    await desk.restart(settings)
    await until(
      'the other to have signed',
      async () => (await desk.shown(DOMAIN)).serialNumber !== first.serialNumber,
    )
    await desk.restart(settings)
    expect(await keysOf(directory)).toEqual([])
    expect(await keysOf(other.directory)).toEqual([
      `acme.account ${other.directory}`,
      `acme.key ${other.directory}`,
    ])
    expect(await desk.read(id)).toMatchObject(VALID)
  } finally {
    await other.close()
  }
})
