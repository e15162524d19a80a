import * as z from 'zod/mini'
import { LIMITS } from '../limits.ts'

/** A request, or a connection of a TCP or UDP service, as an edge keeps it once it has ended. Times are in ms. */
export const KeptRequest = z.object({
  /** When it ended, since the epoch. */
  at: z.number(),
  type: z.enum(['http', 'tcp', 'udp']),
  service: z.number(),
  /** The visitor's address. */
  source: z.string(),
  /** The e-mail by which the visitor has signed in. */
  person: z.nullable(z.string()),
  method: z.nullable(z.string()),
  path: z.nullable(z.string()),
  /** Without the `?`; only where the installation keeps queries. */
  query: z.nullable(z.string()),
  status: z.nullable(z.number()),
  /** Bytes from the visitor and to the visitor. */
  received: z.number(),
  sent: z.number(),
  /** Until the service had taken the connection, through the tunnel. */
  connect: z.nullable(z.number()),
  /** Until its answer began. */
  response: z.nullable(z.number()),
  total: z.nullable(z.number()),
  /** The address and port of the service that it was sent to. */
  target: z.nullable(z.string()),
  /** One of `REASONS`. */
  reason: z.nullable(z.string()),
  /** More about the reason, like what OpenSSL said. */
  detail: z.nullable(z.string()),
})
export type KeptRequest = z.infer<typeof KeptRequest>

/** A place in what one edge keeps: a segment, and how many of its requests are older. */
export const KeptPlace = z.string().check(z.regex(/^\d{1,12}-\d{1,9}$/))

/** Of HTTP. The edge goes through the classes from the one to the other. */
const status = z.int().check(z.gte(100), z.lte(999))

const text = (max: number) => z.nullable(z.string().check(z.maxLength(max)))

/** What kept requests must be to be found; null: whatever it is. */
export const KeptFilter = z.object({
  /** ms since the epoch; `to` itself is out. */
  from: z.nullable(z.number()),
  to: z.nullable(z.number()),
  services: z.nullable(z.array(z.number()).check(z.maxLength(LIMITS.searchedServices))),
  type: z.nullable(KeptRequest.shape.type),
  /** From and to, both are in. */
  status: z.nullable(z.tuple([status, status])),
  method: text(20),
  /** An address or network. */
  source: text(50),
  /** A part of the path. */
  path: z.nullable(z.string().check(z.minLength(1), z.maxLength(200))),
  person: text(254),
  /** One of `REASONS`, or `any`. */
  reason: text(40),
  /** What took at least so long in all. */
  minTotal: z.nullable(z.number()),
})
export type KeptFilter = z.infer<typeof KeptFilter>

/** Which search of this connection it is. */
const ask = z.int().check(z.positive())

/** What a server asks an edge for: what it keeps, the newest first. */
export const KeptSearch = z.object({
  ask,
  filter: KeptFilter,
  limit: z.int().check(z.gte(1), z.lte(LIMITS.foundRequests)),
  /** Only what is older than this place, or newer. */
  before: z.nullable(KeptPlace),
  after: z.nullable(KeptPlace),
})
export type KeptSearch = z.infer<typeof KeptSearch>

/** What an edge found until the page was full, all was looked at, or its time was up. */
export const FoundRequests = z.object({
  ask,
  found: z.array(z.extend(KeptRequest, { place: KeptPlace })).check(z.maxLength(LIMITS.foundRequests)),
  /** Where to go on; null: there is nothing older. */
  next: z.nullable(KeptPlace),
  /** How far back it has looked, in ms since the epoch; null: not at all. */
  reached: z.nullable(z.number()),
  /** The place of the newest that it keeps, to ask for what comes after; null: it keeps none. */
  newest: z.nullable(KeptPlace),
})
export type FoundRequests = z.infer<typeof FoundRequests>
export type FoundRequest = FoundRequests['found'][number]
