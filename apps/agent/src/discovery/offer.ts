import { columnOf, HTTP_SWITCHES } from '@postern/contract/services/service-fields'
import * as z from 'zod/mini'

const text = z.optional(z.string())
const texts = z.optional(z.array(z.string()))

/** The fields of a service that a source can set. The server checks them like a person's form. */
export const Offered = z.strictObject({
  type: z.enum(['http', 'tcp', 'udp']),
  name: z.string(),
  domain: text,
  pathLocation: text,
  backendProto: text,
  ...z.partial(z.object(columnOf(HTTP_SWITCHES, 'record'))).shape,
  /** Absent: this node itself. */
  backendHost: text,
  backendPort: z.number(),
  /** The public port of a TCP or UDP service. Absent: the server chooses. */
  port: z.optional(z.number()),
  /** For a TCP service: TLS ends at the edge. */
  ssl: z.optional(z.boolean()),
  enabled: z.optional(z.boolean()),
  /** When the server deletes it. */
  endsAt: text,
  allowedIps: texts,
  blockedIps: texts,
})

/** One service that a source wants to publish. */
export interface Offer extends z.infer<typeof Offered> {
  /** The source recognises the service by it, like `grafana/http`. */
  key: string
}

/** All services that a source wants, and its problems in words. */
export interface Offers {
  services: Offer[]
  problems: string[]
}

/** The most that the server accepts from one source. */
export const MAX_OFFERS = 200
