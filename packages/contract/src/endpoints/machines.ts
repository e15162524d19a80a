import { AgentConfig, RegisterKey } from '../agent/agent.ts'
import { AgentReport } from '../agent/agent-report.ts'
import { StateAnswer, StateRequest } from '../edge/desired-state.ts'
import { CertificateAnswer, CertificateForm, JoinAnswer, JoinForm } from '../edge/join.ts'
import { PublishAnswer, PublishForm } from '../services/publishing.ts'
import { Why, WhyForm } from '../why/why.ts'
import { type Endpoint, nothing } from './endpoint.ts'

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
  /** For root on the server's machine, who alone can read the edge's token; it answers when the whole is done. */
  edgeWhy: { method: 'POST', path: '/api/edge/why', noun: 'Edge', auth: 'edge', body: WhyForm, answer: Why },
  /** At the console's addresses: a machine becomes the edge that its token names. */
  edgeJoin: {
    method: 'POST',
    path: '/api/edge/join',
    noun: 'Edge',
    auth: 'none',
    body: JoinForm,
    answer: JoinAnswer,
  },
  /** For an edge that joined, with a new key or the same; the certificate before ends. */
  edgeCertificate: {
    method: 'POST',
    path: '/api/edge/certificate',
    noun: 'Edge',
    auth: 'edge',
    body: CertificateForm,
    answer: CertificateAnswer,
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
  /** The whole set of one source; it may be sent again at any time. 403 `may_not_publish` without the node's right. */
  publishServices: {
    method: 'PUT',
    path: '/api/agent/services',
    noun: 'Node',
    auth: 'node',
    body: PublishForm,
    answer: PublishAnswer,
  },
  /** All that the agent sees now; valid while the agent is connected. */
  reportNode: {
    method: 'PUT',
    path: '/api/agent/report',
    noun: 'Node',
    auth: 'node',
    body: AgentReport,
    answer: nothing,
  },
  /** Of services of this node alone; it answers when the whole is done. */
  agentWhy: {
    method: 'POST',
    path: '/api/agent/why',
    noun: 'Node',
    auth: 'node',
    body: WhyForm,
    answer: Why,
  },
  agentSocket: { method: 'GET', path: '/api/agent/socket', noun: 'Node', auth: 'node' },
} as const satisfies Record<string, Endpoint>
