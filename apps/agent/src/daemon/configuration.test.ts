import { NOTHING_BEYOND } from '@postern/contract/agent/agent-report'
import { expect, test } from 'vitest'
import { AgentError, type Failure } from '../errors.ts'
import { config } from '../wanted.fixture.ts'
import { parseWanted } from '../wanted.ts'
import { createConfigurationReader } from './configuration.ts'

const KEY = config.publicKey ?? ''

function lab(publicKey = KEY) {
  const world = {
    now: 1000,
    answer: config,
    failure: undefined as Failure | undefined,
    registered: '',
    saves: 0,
  }
  const reader = createConfigurationReader({
    publicKey,
    read: (config) => ({ wanted: parseWanted(config), beyond: [], leftOut: NOTHING_BEYOND }),
    lastGood: undefined,
    now: () => world.now,
    random: () => 0,
    save: async () => {
      world.saves++
    },
    client: {
      async getConfig() {
        if (world.failure) throw new AgentError(world.failure, 'no')
        return world.answer
      },
      async registerKey(key) {
        world.registered = key
        return { ...world.answer, publicKey: key }
      },
    },
  })
  return { world, reader }
}

test('asks at once, then every five minutes and on a hint', async () => {
  const { world, reader } = lab()
  expect(await reader.readWhenDue()).toBe(true)
  expect(await reader.readWhenDue()).toBe(false)
  world.now += 300_000
  expect(await reader.readWhenDue()).toBe(true)
  reader.hint()
  expect(await reader.readWhenDue()).toBe(true)
})

test('the same answer is the same object, so that nothing is applied twice', async () => {
  const { world, reader } = lab()
  await reader.readWhenDue()
  const first = reader.held.wanted
  reader.hint()
  await reader.readWhenDue()
  expect(reader.held.wanted).toBe(first)
  world.answer = { ...config, dns: [] }
  reader.hint()
  await reader.readWhenDue()
  expect(reader.held.wanted).not.toBe(first)
  expect(world.saves).toBe(2)
})

test('pauses double up to a minute while the server is down, and the held configuration stays', async () => {
  const { world, reader } = lab()
  await reader.readWhenDue()
  world.failure = 'server-unreachable'
  reader.hint()
  const pauses: number[] = []
  for (let round = 0; round < 8; round++) {
    await reader.readWhenDue()
    pauses.push(reader.dueIn())
    world.now += reader.dueIn()
  }
  expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
  expect(reader.held).toMatchObject({
    serverReachable: false,
    refused: null,
    wanted: { node: { name: 'office' } },
  })
})

test('a rejected token is reported, retried rarely, and forgotten once it works again', async () => {
  const { world, reader } = lab()
  world.failure = 'token-refused'
  await reader.readWhenDue()
  expect(reader.held).toMatchObject({ refused: 'no', outcome: 'token-refused', serverReachable: true })
  expect(reader.dueIn()).toBe(60_000)
  world.failure = 'server-unreachable'
  reader.hint()
  await reader.readWhenDue()
  expect(reader.held.refused).toBe('no')
  world.failure = undefined
  reader.hint()
  await reader.readWhenDue()
  expect(reader.held).toMatchObject({ refused: null, problem: null, outcome: 'ok' })
})

test("a server that lost the key gets it again; another machine's key is not replaced", async () => {
  const { world, reader } = lab()
  world.answer = { ...config, publicKey: null }
  await reader.readWhenDue()
  expect(world.registered).toBe(KEY)
  world.registered = ''
  world.answer = { ...config, publicKey: config.peer.publicKey.replace('Y', 'Z') }
  reader.hint()
  await reader.readWhenDue()
  expect(world.registered).toBe('')
  expect(reader.held.problem).toContain('Another machine')
})
