import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that the kernel assigns by itself, so that none of these is taken meanwhile. */
const RANGE = { first: 20_000, beyond: 30_000 }
const TRIES = 100

const given = new Set<number>()

/** A free TCP port of loopback, a different one at each call. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const port = randomInt(RANGE.first, RANGE.beyond)
    if (given.has(port) || !(await isFree(port))) continue
    given.add(port)
    return port
  }
  throw new Error('no free port was found')
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
    return true
  } catch {
    // It is taken: try another one.
    return false
  } finally {
    server.close()
  }
}
