import type { Identity } from '../identity/identity.ts'
import { createTlsWay } from './tls-way.ts'

/** The addresses of servers that do not answer here as servers do, so that a person can open the way. */
export async function listSilentServers(identity: Identity): Promise<string[]> {
  const asked = identity.known.servers.map(async (server) => {
    const current = { ...identity, known: { ...identity.known, servers: [server] } }
    return (await isAnswering(current)) ? [] : [server.url]
  })
  return (await Promise.all(asked)).flat()
}

async function isAnswering(identity: Identity): Promise<boolean> {
  const way = createTlsWay({ current: () => identity })
  const door = await way.open()
  try {
    return await new Promise((resolve) => {
      const signal = AbortSignal.timeout(way.timeoutMs)
      // Any answer proves the way and the server.
      const asking = door.request({ method: 'GET', path: '/api/health', signal }, () => resolve(true))
      asking.on('error', () => resolve(false)).end()
    })
  } finally {
    door.close()
  }
}
