import { setTimeout as pause } from 'node:timers/promises'
import type { PeerFigures } from '@postern/contract/edge/edge-messages'
import { signIn } from '@postern/testkit/api'
import { connectEdgeClient, type EdgeClient } from '@postern/testkit/edge-client'
import { TEST_ADMIN } from '@postern/testkit/server'
import { until } from '@postern/testkit/until'
import type { Measured } from '../figures.ts'
import { compareCosts, type Work } from '../measure.ts'
import type { Effort } from '../sizes.ts'
import type { FullServer, FullServers } from './full-servers.ts'

/** Longer than the server's pause between two messages of a stream, so that the next one comes at once. */
const QUIET_MS = 300

const PAGES = {
  'stream: figures of one node': { path: '/api/nodes/stream?limit=10', all: false },
  'stream: figures of one node, by traffic': {
    path: '/api/nodes/stream?limit=10&orderBy=transferRx,desc',
    all: false,
  },
  'stream: figures of all nodes': { path: '/api/nodes/stream?limit=10', all: true },
} as const

/** From an edge's message about its nodes to the page of nodes that a person looks at. */
export async function measureStream(servers: FullServers, { messages }: Effort): Promise<Measured[]> {
  const [heavy, light] = [await openEdge(servers.heavy), await openEdge(servers.light)]
  const measured: Measured[] = []
  try {
    for (const [name, { path, all }] of Object.entries(PAGES)) {
      const pages = [heavy.follow(path, all), light.follow(path, all)] as const
      const sides = await compareCosts(messages, { heavy: pages[0].work, light: pages[1].work })
      for (const page of pages) page.close()
      measured.push({ name, unit: 'ms', ...sides })
    }
  } finally {
    heavy.close()
    light.close()
  }
  return measured
}

async function openEdge({ server, nodeIds }: FullServer) {
  const { paths } = server.context.config
  await server.listenOnSocket()
  const edge = await connectEdgeClient(paths)
  const api = await signIn(paths.serverSocket, TEST_ADMIN.username, TEST_ADMIN.password)
  let rx = 1000
  return {
    close: () => edge.close(),
    follow(path: string, all: boolean): { work: Work; close(): void } {
      const stream = api.stream(path)
      const ids = all ? nodeIds : nodeIds.slice(0, 1)
      const run = async () => {
        sendFigures(edge, ids, ++rx)
        const text = `"transferRx":${rx},`
        await until('the page', () => stream.events.at(-1)?.data.includes(text), { everyMs: 1 })
      }
      return { work: { prepare: () => pause(QUIET_MS), run }, close: () => stream.close() }
    },
  }
}

function sendFigures(edge: EdgeClient, ids: readonly number[], rx: number): void {
  const figuresOf = (nodeId: number): PeerFigures => ({
    nodeId,
    latestHandshake: Date.now(),
    rx,
    tx: rx,
    clientIp: '203.0.113.10',
    reachable: true,
  })
  edge.send({ type: 'peers', peers: ids.map(figuresOf) })
}
