import { columnOf, HTTP_SWITCHES } from '@postern/contract/service-fields'
import * as z from 'zod/mini'

const text = z.optional(z.string())
const texts = z.optional(z.array(z.string()))

/** What a source can say of one service on this node. The server judges it as it does a person's form. */
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
  /** The public one, of a TCP or UDP service. Absent: the server chooses. */
  port: z.optional(z.number()),
  /** TLS ends at the edge, of a TCP service. */
  ssl: z.optional(z.boolean()),
  enabled: z.optional(z.boolean()),
  allowedIps: texts,
  blockedIps: texts,
})

/** One service that a source wants to see published. */
export interface Offer extends z.infer<typeof Offered> {
  /** By which the source knows it again, like `grafana/http`. */
  key: string
}

/** All that a source wants, and what it could not read, in words. */
export interface Offers {
  services: Offer[]
  problems: string[]
}

/** As many as the server takes of one source. */
export const MAX_OFFERS = 200
