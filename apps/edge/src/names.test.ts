import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createNames, type DnsQuery } from './names.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const [SILENT, GOOD] = ['10.64.0.2', '10.64.0.3']
const ask = (name: string, server: string | null): DnsQuery => ({ name, server, families: [4] })

/** After this time a name server gives up a look-up, in ms. */
const PATIENCE = 1800

test.each([
  ['of one name server do not delay those of another', SILENT, GOOD, 2],
  ['do not delay others of the same name server forever', SILENT, SILENT, 20],
  ['keep no look-up of this machine’s own resolver waiting forever', null, null, 60],
])('names that get no answer %s', async (_, silent, good, seconds) => {
  const look = async (name: string) => {
    if (name === 'good.test') return ['192.168.7.20']
    await new Promise((resolve) => setTimeout(resolve, PATIENCE))
    throw new Error('no answer')
  }
  const lookups = { system: look, at: (_server: string, name: string) => look(name) }
  const names = createNames({ lookups, now: Date.now, onChange: () => undefined })
  const dead = Array.from({ length: 40 }, (_, index) => ask(`dead${index}.test`, silent))
  const wanted = ask('good.test', good)
  for (const query of dead) names.find(query)
  for (let second = 0; second < 60; second++) {
    await vi.advanceTimersByTimeAsync(1000)
    names.refresh([...dead, wanted])
  }
  names.find(wanted)
  for (let second = 0; second < seconds; second++) {
    await vi.advanceTimersByTimeAsync(1000)
    names.refresh([...dead, wanted])
  }
  expect(names.find(wanted).addresses).toEqual(['192.168.7.20'])
  names.close()
})
