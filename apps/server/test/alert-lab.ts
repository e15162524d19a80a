import { isDeepStrictEqual } from 'node:util'
import type { Alert, Delivery } from '@postern/contract/alerts/alerts'
import type { AlertKind, AlertRule } from '@postern/contract/alerts/rules'
import type { BackendTrouble } from '@postern/contract/edge/edge'
import type { EdgeVitals } from '@postern/contract/edge/edge-messages'
import { connectEdgeClient, type EdgeClient, onlinePeer } from '@postern/testkit/edge-client'
import { startTestServer, type TestServerOptions } from '@postern/testkit/server'
import { until } from '@postern/testkit/until'
import { createAlerts } from '../src/core/alerts/engine.ts'
import { startFakeReceiver } from './fake-receiver.ts'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE

const VITALS: EdgeVitals = {
  process: { startedAt: 1, cpuSeconds: 1, residentBytes: 5e7, openFiles: 20, mostOpenFiles: 1024 },
  eventLoop: { median: 0, p99: 0.001, most: 0.002 },
  haproxy: null,
}

/** A server with a stopped clock, an edge, alerts that look when a test says so, and who gets the messages. */
export async function startAlertLab(options: TestServerOptions = {}) {
  const receiver = await startFakeReceiver()
  const disk = { free: 50, total: 100 }
  const outside = {
    lookup: async () => ['127.0.0.1'],
    telegram: `http://127.0.0.1:${receiver.port}`,
    ca: undefined,
    isExempt: () => true,
  }
  const server = await startTestServer({
    now: Date.parse('2026-03-02T12:00:00Z'),
    ...options,
    world: { outside, disk: async () => disk, ...options.world },
  })
  await server.listenOnSocket()
  const client = await server.signIn()
  let alerts = createAlerts(server.context)
  let edge: EdgeClient | undefined

  async function connectEdge(over = {}) {
    edge = await connectEdgeClient(server.context.config.paths)
    edge.report(1_000_000, over)
    await until('a report', () => server.context.edges.views()[0]?.dataPlane !== null)
    return edge
  }

  /** Lets time pass in steps as short as those of the real server. */
  async function pass(ms: number) {
    const end = server.now + ms
    while (server.now < end) {
      server.now = Math.min(end, server.now + 20_000)
      await alerts.run()
    }
    await alerts.send()
  }

  return {
    server,
    client,
    receiver,
    disk,
    connectEdge,
    pass,
    get edge() {
      if (!edge) throw new Error('no edge is connected')
      return edge
    },
    async disconnectEdge() {
      edge?.close()
      await until('it to be gone', () => server.context.edges.views().length === 0)
    },
    async report(revision: number, over = {}) {
      edge?.report(revision, over)
      await until('the report', () => server.context.edges.views()[0]?.inForce.haproxy === revision)
    },
    /** Its peers are online, until they are reported otherwise. */
    async tell(nodeId: number, isReachable: boolean) {
      const peer = onlinePeer(nodeId)
      const latestHandshake = isReachable ? server.now + 100 * HOUR : server.now - 4 * MINUTE
      edge?.send({ type: 'peers', peers: [{ ...peer, latestHandshake, reachable: isReachable }] })
      await until('it to be known', () => server.context.live.find(nodeId)?.reachable === isReachable)
    },
    /** What the edge says of its machine. */
    async lookAt(machine: Pick<EdgeVitals, 'disk' | 'updates'>) {
      edge?.send({ type: 'vitals', vitals: { ...VITALS, ...machine } })
      const known = () => [...server.context.edges.vitals().values()][0]
      await until('it to be known', () => isDeepStrictEqual(known(), { ...VITALS, ...machine }))
    },
    async trouble(service: number, trouble: BackendTrouble | null) {
      edge?.send({ type: 'backends', isFirst: false, backends: [{ service, trouble }] })
      await until('it to be known', () => {
        const known = server.context.edges.views()[0]?.troubles.get(service) ?? null
        return known === trouble
      })
    },
    async addNtfy(over: object = {}) {
      const url = `http://127.0.0.1:${receiver.port}/my-alerts`
      const form = { kind: 'ntfy', name: 'Phone', url, inPrivateNetwork: true, ...over }
      const answer = await client.post('/api/alerts/channels', form)
      if (answer.statusCode !== 201) throw new Error(answer.body)
      return answer.json<{ id: number; updated_at: string }>()
    },
    async rule(kind: AlertKind): Promise<AlertRule> {
      const rules = (await client.get('/api/alerts/rules')).json<AlertRule[]>()
      const found = rules.find((rule) => rule.kind === kind)
      if (!found) throw new Error(`no rule ${kind}`)
      return found
    },
    open: async () => (await client.get('/api/alerts')).json<Alert[]>(),
    history: async () => (await client.get('/api/alerts/deliveries')).json<Delivery[]>(),
    /** The titles that arrived at ntfy. */
    titles: () => receiver.received.map(({ body }) => String(body.title)),
    /** Ends the server and starts it again. */
    async restart() {
      await alerts.close()
      edge?.close()
      await server.restart()
      await server.listenOnSocket()
      alerts = createAlerts(server.context)
    },
    async close() {
      await alerts.close()
      edge?.close()
      await receiver.close()
      await server.close()
    },
  }
}
export type AlertLab = Awaited<ReturnType<typeof startAlertLab>>
