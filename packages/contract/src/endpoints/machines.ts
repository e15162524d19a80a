import { AgentConfig, RegisterKey } from '../agent.ts'
import { AgentReport } from '../agent-report.ts'
import { StateAnswer, StateRequest } from '../desired-state.ts'
import { type Endpoint, nothing } from '../endpoint.ts'
import { PublishAnswer, PublishForm } from '../publishing.ts'

/** What edges and the agents of nodes call. */
export const machines = {
  edgeState: {
    method: 'POST',
    path: '/api/edge/state',
    noun: 'Edge',
    auth: 'edge',
    body: StateRequest,
    answer: StateAnswer,
  },
  edgeSocket: { method: 'GET', path: '/api/edge/socket', noun: 'Edge', auth: 'edge' },
  agentConfig: { method: 'GET', path: '/api/agent/config', noun: 'Node', auth: 'node', answer: AgentConfig },
  registerKey: {
    method: 'PUT',
    path: '/api/agent/key',
    noun: 'Node',
    auth: 'node',
    body: RegisterKey,
    answer: AgentConfig,
  },
  /** The whole set of one source, as often as one likes. 403 `may_not_publish` without the node's right. */
  publishServices: {
    method: 'PUT',
    path: '/api/agent/services',
    noun: 'Node',
    auth: 'node',
    body: PublishForm,
    answer: PublishAnswer,
  },
  /** All that the agent sees now; it counts while the agent is connected. */
  reportNode: {
    method: 'PUT',
    path: '/api/agent/report',
    noun: 'Node',
    auth: 'node',
    body: AgentReport,
    answer: nothing,
  },
  agentSocket: { method: 'GET', path: '/api/agent/socket', noun: 'Node', auth: 'node' },
} as const satisfies Record<string, Endpoint>
