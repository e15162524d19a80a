import type { DataPlane, Edge } from '@postern/contract/edge/edge'
import type { EdgeVitals, HaproxyVitals } from '@postern/contract/edge/edge-messages'
import type { Context } from '../../context.ts'
import { type Family, type Labels, labelsOf, samplesOf, secondsOf, yesNo } from './family.ts'

interface MeasuredEdge extends Edge {
  labels: Labels
  vitals: EdgeVitals | undefined
}

const PARTS = ['haproxy', 'wireguard', 'nftables'] as const satisfies readonly (keyof DataPlane)[]

export async function measureEdges({ edges, clock }: Context): Promise<Family[]> {
  const vitals = edges.vitals()
  const joined = (await edges.list()).filter(({ isJoined }) => isJoined)
  const measured = joined.map(
    (edge): MeasuredEdge => ({
      ...edge,
      labels: labelsOf({ edge: edge.name }),
      vitals: vitals.get(edge.id),
    }),
  )
  const now = clock()
  const gauge = (name: string, help: string, of: (edge: MeasuredEdge) => number | null): Family => ({
    name: `postern_edge_${name}`,
    kind: 'gauge',
    help,
    samples: samplesOf(measured, of),
  })
  return [
    {
      name: 'postern_edge_info',
      kind: 'gauge',
      help: 'An edge, with its version.',
      samples: measured.map(({ name, version }) => [labelsOf({ edge: name, version }), 1]),
    },
    gauge('up', 'Whether the edge is connected to the server.', ({ connected }) => yesNo(connected)),
    gauge('last_seen_timestamp_seconds', 'When the edge last said something.', ({ connected, lastSeen }) =>
      connected ? secondsOf(now) : lastSeen === null ? null : secondsOf(Date.parse(lastSeen)),
    ),
    gauge('wanted_revision', 'The revision that the edge wants to have in force.', ({ wanted }) => wanted),
    gauge('applied_revision', 'The revision that is in force in every part.', ({ applied }) => applied),
    gauge('problems', 'Problems that the edge reports, of all kinds.', ({ problemCount }) => problemCount),
    gauge('stuck', 'Whether changes wait until someone acts.', ({ isStuck }) => yesNo(isStuck)),
    {
      name: 'postern_edge_part_up',
      kind: 'gauge',
      help: 'Whether a part of the data plane works: haproxy, wireguard (the tunnel) or nftables.',
      samples: measured.flatMap(({ name, connected, dataPlane }) =>
        connected && dataPlane
          ? PARTS.map(
              (part) => [labelsOf({ edge: name, part }), yesNo(dataPlane[part].state === 'ok')] as const,
            )
          : [],
      ),
    },
    ...measureHaproxy(measured),
  ]
}

function measureHaproxy(edges: readonly MeasuredEdge[]): Family[] {
  const running = edges.flatMap(({ name, labels, vitals }) =>
    vitals?.haproxy ? { name, labels, haproxy: vitals.haproxy } : [],
  )
  const family =
    (kind: Family['kind']) =>
    (name: string, help: string, of: (haproxy: HaproxyVitals) => number): Family => ({
      name: `postern_haproxy_${name}`,
      kind,
      help,
      samples: samplesOf(running, ({ haproxy }) => of(haproxy)),
    })
  const [gauge, counter] = [family('gauge'), family('counter')]
  return [
    {
      name: 'postern_haproxy_info',
      kind: 'gauge',
      help: 'The HAProxy that an edge runs, with its version.',
      samples: running.map(({ name, haproxy }) => [labelsOf({ edge: name, version: haproxy.version }), 1]),
    },
    gauge('connections', 'Connections that are open.', ({ connections }) => connections),
    gauge('connections_limit', 'Connections that may be open.', ({ mostConnections }) => mostConnections),
    gauge('tls_connections', 'TLS connections that are open.', ({ tlsConnections }) => tlsConnections),
    gauge('sessions_per_second', 'Sessions begun in the last second.', ({ sessionRate }) => sessionRate),
    gauge('pool_bytes', 'Memory in the pools of HAProxy.', ({ poolBytes }) => poolBytes),
    gauge(
      'idle_ratio',
      'How much of their time its threads wait: 1 is all of it.',
      ({ idleRatio }) => idleRatio,
    ),
    counter('connections_total', 'Connections since it started.', (all) => all.connectionsTotal),
    counter('tls_connections_total', 'TLS connections since it started.', (all) => all.tlsConnectionsTotal),
    counter(
      'requests_total',
      'HTTP requests since it started, our own among them.',
      (all) => all.requestsTotal,
    ),
  ]
}
