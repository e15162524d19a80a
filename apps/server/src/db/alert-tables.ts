import type { AlertEvent, Delivery } from '@postern/contract/alerts/alerts'
import type { ChannelKind } from '@postern/contract/alerts/channels'
import type { AlertFigure, AlertKind, Comparison } from '@postern/contract/alerts/rules'
import type { Generated } from 'kysely'
import type { Fixed, Flag, Json, Sealed, Time } from './columns.ts'

export interface AlertRulesTable {
  id: Generated<number>
  kind: Fixed<AlertKind>
  name: string
  enabled: Flag
  /** Null for what just happens. */
  minutes: number | null
  threshold: number | null
  /** Of one's own from here on. */
  figure: AlertFigure | null
  comparison: Comparison | null
  node_id: number | null
  service_id: number | null
  domain_id: number | null
  edge_id: number | null
  created_at: Fixed<Time>
  updated_at: Time
}

export interface AlertChannelsTable {
  id: Generated<number>
  kind: Fixed<ChannelKind>
  name: string
  enabled: Flag
  /** ChannelSettings. */
  settings: Json
  /** JSON of its secrets by their names. */
  secrets: Sealed
  created_at: Fixed<Time>
  updated_at: Time
}

/** A row for each time that something began. */
export interface AlertsTable {
  id: Generated<number>
  /** What it is about, like `node-lost:7`; once among those that have not ended. */
  key: Fixed<string>
  rule_id: Fixed<number>
  kind: Fixed<AlertKind>
  name: string
  node_id: number | null
  node_name: string | null
  service_id: number | null
  address: string | null
  problem: string
  /** ms since the epoch, like all times of this table. */
  since: Fixed<number>
  first_told: number | null
  last_told: number | null
  cleared_at: number | null
  /** Nobody has to be told anything more. */
  is_over: Generated<Flag>
}

/** Messages to channels. */
export interface AlertDeliveriesTable {
  id: Generated<number>
  /** Null once the channel is deleted. */
  channel_id: number | null
  channel_name: Fixed<string>
  event: Fixed<AlertEvent>
  /** AlertMessage. */
  message: Fixed<Json>
  status: Delivery['status']
  attempts: number
  /** ms since the epoch, like all times of this table: when it is tried next. */
  due_at: number
  problem: string | null
  at: Fixed<number>
  sent_at: number | null
}

/** The mute of a node or a service. */
export interface MutesTable {
  id: Generated<number>
  node_id: Fixed<number | null>
  service_id: Fixed<number | null>
  /** Null: until a person ends it. */
  until: Time | null
}
