import { isDeepStrictEqual } from 'node:util'
import { shared } from '@postern/testkit/shared'
import { sendRaw, statusesIn } from '@postern/testkit/wire'
import { describe, expect, test } from 'vitest'
import { ID, startProxyLab } from './lab/proxy-lab.ts'
import { FRAMINGS, type Outcome } from './tables/framings.ts'

const lab = shared(startProxyLab)

/** How long silence means that HAProxy waits for more of a request, in ms. */
const SOON = 1500

async function send(bytes: string, silence?: number): Promise<Outcome> {
  const id = lab.nextId()
  const statuses = statusesIn(await sendRaw(lab.port, bytes.replaceAll(ID, id), { silence }))
  const got = lab
    .reached(id)
    .filter(({ request }) => request.isWhole)
    .map(({ request }) => `${request.method} ${request.target} ${request.body.replaceAll(id, ID)}`)
  return { statuses, got }
}

describe.concurrent('a framing', () => {
  test.each(FRAMINGS.map(([name, bytes, ...outcomes]) => [name, bytes, outcomes] as const))(
    '%s',
    async (_, bytes, outcomes) => {
      const seen = await send(bytes, SOON)
      const isExpected = outcomes.some((each) => isDeepStrictEqual(seen, each))
      // A busy machine may answer later than that.
      expect(outcomes).toContainEqual(isExpected ? seen : await send(bytes))
    },
  )
})

test('no request that two programs could read differently got through', () => {
  expect(lab.faults()).toEqual([])
})
