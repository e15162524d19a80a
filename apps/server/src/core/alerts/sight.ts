import type { AlertKind, AlertRule } from '@postern/contract/alerts/rules'
import type { Context } from '../../context.ts'
import type { Count } from '../figures/pack.ts'
import type { CountedNode } from '../overview/overview.ts'

/** Something that a rule finds now. */
export interface Finding {
  /** What it is about; the same as long as it is so. */
  key: string
  rule: AlertRule
  /** Its name is read only when somebody is told. */
  nodeId?: number
  serviceId?: number
  name?: string
  problem?: string
  /** It has already lasted for the minutes of its rule. */
  isSustained?: boolean
}

/** An alert that has begun. */
export interface OpenAlert {
  key: string
  kind: AlertKind
  node_id: number | null
  service_id: number | null
}

export interface Findings {
  found: ReadonlyMap<string, Finding>
  /** Whether it can be seen now if this is still so. */
  isKnown(alert: OpenAlert): boolean
  /** Whether anybody is to hear of it: its rule is on, and nobody muted it. */
  isWatched(alert: OpenAlert & { rule_id: number }): boolean
}

/** The present figure of a custom rule; `of` is the number of requests or answers behind it. */
export interface RuleValue {
  value: number
  of?: number
}

/** The counts that rules need, by rule id, and the nodes of the services that they watch. */
export interface Counted {
  of: ReadonlyMap<number, Count>
  nodesOf: ReadonlyMap<number, number>
}

/** What all rules read, once for each look. */
export interface Sight {
  context: Context
  nodes: ReadonlyMap<number, CountedNode>
  unchecked: ReadonlySet<number>
  muted: { nodes: ReadonlySet<number>; services: ReadonlySet<number> }
  /** Edges have had time to say how nodes and services are. */
  isSettled: boolean
  counted: Counted
  /** The known figures of custom rules, by the key of the alert. */
  values: ReadonlyMap<string, RuleValue>
}

export type Finder = (sight: Sight, rule: AlertRule) => Promise<Finding[]> | Finding[]
