import type { Role } from '@postern/contract/auth'
import type { AuthKind } from '@postern/contract/endpoint'

export interface SessionCaller {
  kind: 'session'
  sessionId: number
  userId: number
  username: string
  role: Role
  /** ms since the epoch. */
  expiresAt: number
}

/** An agent: it reaches this node's own things and nothing else. */
export interface NodeCaller {
  kind: 'node'
  tokenId: number
  nodeId: number
}

export interface EdgeCaller {
  kind: 'edge'
  edgeId: number
}

export interface NobodyCaller {
  kind: 'none'
}

export type Caller = SessionCaller | NodeCaller | EdgeCaller | NobodyCaller

interface CallerByAuth {
  none: NobodyCaller
  session: SessionCaller
  download: SessionCaller
  stream: SessionCaller
  'session or node': SessionCaller | NodeCaller
  node: NodeCaller
  edge: EdgeCaller
}

export type CallerOf<A extends AuthKind> = CallerByAuth[A]

/** The caller as the record of changes names it. */
export function actorOf(caller: Caller): string {
  switch (caller.kind) {
    case 'session':
      return caller.username
    case 'node':
      return `node ${caller.nodeId}`
    case 'edge':
      return `edge ${caller.edgeId}`
    case 'none':
      return 'nobody'
  }
}
