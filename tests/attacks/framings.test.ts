import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ID, type ProxyLab, startProxyLab } from './lab/proxy-lab.ts'
import { speak } from './lab/wire.ts'
import { FRAMINGS, type Outcome } from './tables/framings.ts'

let lab: ProxyLab
beforeAll(async () => {
  lab = await startProxyLab()
})
afterAll(() => lab.close())

async function send(bytes: string): Promise<Outcome> {
  const id = lab.nextId()
  const { statuses } = await speak(lab.port, bytes.replaceAll(ID, id))
  const got = lab
    .reached(id)
    .filter(({ request }) => request.isWhole)
    .map(({ request }) => `${request.method} ${request.target} ${request.body.replaceAll(id, ID)}`)
  return { statuses, got }
}

describe.concurrent('a framing', () => {
  test.each(FRAMINGS)('%s', async (_, bytes, outcome) => {
    expect(await send(bytes)).toEqual(outcome)
  })
})

test('nothing that two programs could read in two ways came through', () => {
  expect(lab.faults()).toEqual([])
})
