import type { AgentReport, Beyond, TakenPort } from '@postern/contract/agent-report'
import type { LiveBus } from '../../changes/live.ts'
import { createAttempts } from '../accounts/attempts.ts'

/** Per node in ten minutes. */
const MAX_REPORTS = 200

/** What the agents that are connected see on their nodes, in words; kept in memory only. */
export interface AgentReports {
  /** @throws TooManyError */
  take(nodeId: number, report: AgentReport): void
  /** The agent is gone, or says anew what it sees. */
  forget(nodeId: number): void
  problemsOf(nodeId: number): readonly string[]
  /** The nodes with problems. */
  ids(): readonly number[]
}

export function createAgentReports({ bus, clock }: { bus: LiveBus; clock(): number }): AgentReports {
  const known = new Map<number, readonly string[]>()
  const attempts = createAttempts(clock)

  function set(nodeId: number, problems: readonly string[]): void {
    if (problems.join('\n') === (known.get(nodeId) ?? []).join('\n')) return
    if (problems.length > 0) known.set(nodeId, problems)
    else known.delete(nodeId)
    bus.emit({ kind: 'figures', nodes: [nodeId], isReport: true })
  }

  return {
    take(nodeId, report) {
      attempts.check(String(nodeId), MAX_REPORTS)
      attempts.add(String(nodeId), 1)
      set(nodeId, describe(report))
    },
    forget: (nodeId) => set(nodeId, []),
    problemsOf: (nodeId) => known.get(nodeId) ?? [],
    ids: () => [...known.keys()],
  }
}

function describe({ takenPorts, takenRoutes, beyond }: AgentReport): string[] {
  const routes = `Another program on this node, such as a second agent, has taken the route to ${takenRoutes.join(', ')}, so this agent's tunnel may carry no traffic`
  return [
    ...takenPorts.map(describePort),
    ...(takenRoutes.length > 0 ? [routes] : []),
    ...describeBeyond(beyond),
  ]
}

function describePort({ proto, port, place, user, owner }: TakenPort): string {
  const where = place === 'tunnel' ? "at the tunnel's address" : 'on 127.0.0.1'
  return (
    `A program of ${userOf(user)} on this node also listens on ${proto.toUpperCase()} port ${port}, ${where}. ` +
    `Visitors still reach the program of ${userOf(owner)}`
  )
}

const userOf = (uid: number) => (uid === 0 ? 'root' : `user ${uid}`)

function describeBeyond({ gateway, tunnel, allTraffic, dns }: Beyond): string[] {
  const wanted = [
    ...(gateway.length > 0 ? [`forwarding to ${gateway.join(', ')}`] : []),
    ...(tunnel.length > 0 ? [`${tunnel.join(', ')} in the tunnel`] : []),
    ...(allTraffic ? ['all its traffic through the server'] : []),
    ...(dns ? ['its DNS servers'] : []),
  ]
  if (wanted.length === 0) return []
  const all = wanted.join(', ')
  return [`This node's policy does not allow: ${all}. Run postern status on the node to see how to allow it`]
}
