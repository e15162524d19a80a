import { expect, test } from 'vitest'
import { createSingleFlight } from './single-flight.ts'

test('runs one at a time, and once more for all that was asked meanwhile', async () => {
  const gates: (() => void)[] = []
  let running = 0
  const flight = createSingleFlight(async () => {
    expect(++running).toBe(1)
    await new Promise<void>((resolve) => gates.push(resolve))
    running--
  })
  flight.trigger()
  expect(gates).toHaveLength(1)
  for (let i = 0; i < 200; i++) flight.trigger()
  gates[0]?.()
  await new Promise((resolve) => setImmediate(resolve))
  expect(gates).toHaveLength(2)
  gates[1]?.()
  await flight.idle()
  expect(gates).toHaveLength(2)
  flight.trigger()
  expect(gates).toHaveLength(3)
  flight.close()
  flight.trigger()
  gates[2]?.()
  await flight.idle()
  expect(gates).toHaveLength(3)
})
