import type { PeerFigures } from '@postern/contract/edge/edge-messages'
import type { Context } from '../../context.ts'
import { statusOf } from '../nodes/figures.ts'
import { type Family, labelsOf, samplesOf, secondsOf, yesNo } from './family.ts'
import type { KnownNode } from './inventory.ts'

/** The node of the server's own machine is in no tunnel. */
export function measureNodes(context: Context, all: readonly KnownNode[]): Family[] {
  const { live, agents, clock } = context
  const now = clock()
  const nodes = all
    .filter(({ isLocal }) => !isLocal)
    .map((node) => {
      const figures = live.find(node.id)
      return { ...node, figures, status: statusOf(node.enabled, figures, now) }
    })
  const enabled = nodes.filter((node) => node.enabled)
  const bytes = (direction: string, help: string, of: (figures: PeerFigures) => number): Family => ({
    name: `postern_node_${direction}_bytes_total`,
    kind: 'counter',
    help,
    samples: samplesOf(nodes, ({ id, figures }) => (figures && live.isTold(id) ? of(figures) : null)),
  })
  const agentIds = new Set(agents.ids())
  return [
    {
      name: 'postern_node_info',
      kind: 'gauge',
      help: 'A node, with its type: node, gateway or local.',
      samples: samplesOf(
        all,
        () => 1,
        ({ info }) => info,
      ),
    },
    {
      name: 'postern_node_up',
      kind: 'gauge',
      help: 'Whether a node that nobody disconnected answers through its tunnel.',
      samples: samplesOf(enabled, ({ status }) => yesNo(status === 'online')),
    },
    {
      name: 'postern_node_last_handshake_timestamp_seconds',
      kind: 'gauge',
      help: "When the node's tunnel made its last handshake.",
      samples: samplesOf(
        nodes,
        ({ figures }) => figures?.latestHandshake && secondsOf(figures.latestHandshake),
      ),
    },
    bytes('received', 'Bytes that came from the node through its tunnel.', ({ rx }) => rx),
    bytes('sent', 'Bytes that went to the node through its tunnel.', ({ tx }) => tx),
    {
      name: 'postern_node_problems',
      kind: 'gauge',
      help: "Problems that the node's agent reports.",
      samples: samplesOf(nodes, ({ id }) => (agentIds.has(id) ? agents.problemsOf(id).length : null)),
    },
    {
      name: 'postern_nodes',
      kind: 'gauge',
      help: 'How many nodes are in each state.',
      samples: count(nodes),
    },
  ]
}

function count(nodes: readonly { enabled: boolean; status: string; figures: PeerFigures | undefined }[]) {
  const counts = { online: 0, idle: 0, offline: 0, 'never-connected': 0, disconnected: 0 }
  for (const { enabled, status, figures } of nodes) {
    if (!enabled) counts.disconnected++
    else if ((figures?.latestHandshake ?? null) === null) counts['never-connected']++
    else counts[status === 'online' || status === 'idle' ? status : 'offline']++
  }
  return Object.entries(counts).map(([state, value]) => [labelsOf({ state }), value] as const)
}
