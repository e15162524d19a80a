import * as z from 'zod/mini'
import * as f from '../fields.ts'
import { listOrPage, pageQuery } from '../lists.ts'
import { AlertKind } from './rules.ts'

/** Something that a rule found and that is still so. */
export const Alert = z.object({
  id: z.number(),
  kind: AlertKind,
  /** What it is about: the name of a node, service, domain or edge, or of a rule of one's own. */
  name: z.string(),
  /** The node itself, or that of the service; null for none, or one that was deleted since. */
  nodeId: z.nullable(z.number()),
  nodeName: z.nullable(z.string()),
  serviceId: z.nullable(z.number()),
  /** The public address of a service. */
  address: z.nullable(z.string()),
  /** In words. */
  problem: z.string(),
  since: f.time,
  /** When the channels were told first and last; null: not yet, as in quiet hours. */
  firstTold: z.nullable(f.time),
  lastTold: z.nullable(f.time),
})
export type Alert = z.infer<typeof Alert>

export const AlertQuery = z.strictObject(pageQuery)
export type AlertQuery = z.infer<typeof AlertQuery>
export const AlertList = listOrPage(Alert)

/**
 * `opened`: it began. `repeated`: it has been so for another day. `cleared`: it has ended. `happened`: it has no end.
 * `summary`: many at once. `test`: a person tries a channel.
 */
export const AlertEvent = z.enum(['opened', 'repeated', 'cleared', 'happened', 'summary', 'test'])
export type AlertEvent = z.infer<typeof AlertEvent>

/** What a webhook gets of each alert. */
const ToldAlert = z.object({
  kind: AlertKind,
  name: z.string(),
  node: z.nullable(z.string()),
  address: z.nullable(z.string()),
  problem: z.string(),
  since: f.time,
  clearedAt: z.nullable(f.time),
  /** Its page in the console. */
  url: z.string(),
})
export type ToldAlert = z.infer<typeof ToldAlert>

/** A message as it waits for its channel, and as a webhook gets it. */
export const AlertMessage = z.object({
  event: AlertEvent,
  /** One line. */
  title: z.string(),
  /** Lines of plain text. */
  text: z.string(),
  url: z.string(),
  isUrgent: z.boolean(),
  /** The first ones, where there are many. */
  alerts: z.array(ToldAlert),
})
export type AlertMessage = z.infer<typeof AlertMessage>

/** A message to one channel. `waiting`: it will be tried again. */
export const Delivery = z.object({
  id: z.number(),
  channelName: z.string(),
  event: AlertEvent,
  title: z.string(),
  status: z.enum(['waiting', 'sent', 'failed']),
  attempts: z.number(),
  /** Why the last try failed, or why a sent one went without names. */
  problem: z.nullable(z.string()),
  at: f.time,
  sentAt: z.nullable(f.time),
})
export type Delivery = z.infer<typeof Delivery>

export const DeliveryQuery = z.strictObject({
  ...pageQuery,
  type: z.optional(Delivery.shape.status),
})
export type DeliveryQuery = z.infer<typeof DeliveryQuery>
export const DeliveryList = listOrPage(Delivery)
