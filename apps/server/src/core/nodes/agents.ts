import type { AgentReport, Beyond, TakenPort } from '@postern/contract/agent/agent-report'
import type { LiveBus } from '../../changes/live.ts'
import { createAttempts } from '../accounts/attempts.ts'
import type { TokenUses } from './token-uses.ts'

/** Per node in ten minutes. */
const MAX_REPORTS = 200
/** Connections per node: enough for a machine that was copied with its token, too few to fill the server. */
const MAX_CONNECTIONS = 4

export interface AgentToken {
  nodeId: number
  tokenId: number
}

/** An agent's connection. */
export interface Link {
  /** The agent then reconnects, and sends its report and publications again. */
  askAnew(): void
  /** Ends it because the node has too many. */
  drop(): void
}

/** What the server knows of connected agents, by their tokens; only in memory. */
export interface Agents {
  /**
   * Registers a connection; the agent then reports again.
   * @returns a function that ends it
   */
  connect(token: AgentToken, link: Link): () => void
  /** @throws TooManyError */
  report(token: AgentToken, report: AgentReport): void
  /** A holder of the token may have changed what the node's other agents publish: these are asked again. */
  endToken(token: AgentToken): void
  /** The problems that this node's agents report, in words. */
  problemsOf(nodeId: number): readonly string[]
  /** The nodes with problems. */
  ids(): readonly number[]
}

/** One connection, or the report of an agent without one. */
interface Session {
  tokenId: number
  readonly link: Link | undefined
  problems: readonly string[]
}

interface Parts {
  bus: LiveBus
  tokenUses: Pick<TokenUses, 'hold'>
  clock(): number
}

export function createAgents({ bus, tokenUses, clock }: Parts): Agents {
  /** By node, oldest first. */
  const nodes = new Map<number, Session[]>()
  const attempts = createAttempts(clock)

  const sessionsOf = (nodeId: number): readonly Session[] => nodes.get(nodeId) ?? []
  const problemsOf = (nodeId: number) => [...new Set(sessionsOf(nodeId).flatMap(({ problems }) => problems))]

  function update(nodeId: number, work: (sessions: readonly Session[]) => Session[]): void {
    const before = problemsOf(nodeId).join('\n')
    const sessions = work(sessionsOf(nodeId))
    if (sessions.length > 0) nodes.set(nodeId, sessions)
    else nodes.delete(nodeId)
    if (problemsOf(nodeId).join('\n') !== before)
      bus.emit({ kind: 'figures', nodes: [nodeId], isReport: true })
  }

  return {
    connect({ nodeId, tokenId }, link) {
      const session: Session = { tokenId, link, problems: [] }
      const release = tokenUses.hold(tokenId)
      update(nodeId, (sessions) => [...forget(sessions, tokenId), session])
      const links = sessionsOf(nodeId).flatMap((each) => each.link ?? [])
      if (links.length > MAX_CONNECTIONS) links[0]?.drop()
      return () => {
        release()
        update(nodeId, (sessions) => sessions.filter((each) => each !== session))
      }
    },
    report({ nodeId, tokenId }, report) {
      attempts.check(String(nodeId), MAX_REPORTS)
      attempts.add(String(nodeId), 1)
      const problems = describe(report)
      update(nodeId, (sessions) => {
        const mine = sessions.findLast((each) => each.tokenId === tokenId)
        if (!mine) return [...sessions, { tokenId, link: undefined, problems }]
        mine.problems = problems
        return [...sessions]
      })
    },
    endToken({ nodeId, tokenId }) {
      update(nodeId, (sessions) => forget(sessions, tokenId))
      for (const each of sessionsOf(nodeId)) if (each.tokenId !== tokenId) each.link?.askAnew()
    },
    problemsOf,
    ids: () => [...nodes.keys()].filter((id) => sessionsOf(id).some(({ problems }) => problems.length > 0)),
  }
}

/** The report of this token's agent no longer counts. */
function forget(sessions: readonly Session[], tokenId: number): Session[] {
  for (const each of sessions) if (each.tokenId === tokenId) each.problems = []
  return sessions.filter((each) => each.link || each.tokenId !== tokenId)
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
