import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { findFreePort } from './port.ts'

test('ports are distinct, free, and outside the range from which the kernel assigns', async () => {
  const ports: number[] = []
  for (let call = 0; call < 50; call++) ports.push(await findFreePort())
  expect(new Set(ports).size).toBe(50)
  expect(Math.max(...ports)).toBeLessThan(32_768)
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(ports[0], '127.0.0.1', resolve))
  server.close()
})
