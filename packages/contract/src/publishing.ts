import * as z from 'zod/mini'
import { FieldError } from './errors.ts'
import * as f from './fields.ts'
import { LIMITS } from './limits.ts'
import { columnOf, HTTP_FIELDS_OF_AGENTS, PortProto, SERVICE_FIELDS, TCP_FIELDS } from './service-fields.ts'

/** From what an agent learns which services its node has, like `docker` or `file`. Each keeps to its own. */
export const SourceName = z.string().check(z.regex(/^[a-z][a-z0-9-]{0,31}$/))

const TITLES: ReadonlyMap<string, string> = new Map([
  ['docker', 'Docker'],
  ['file', 'File'],
  ['kubernetes', 'Kubernetes'],
  ['home-assistant', 'Home Assistant'],
])

/** A source as people read it. */
export function titleOfSource(source: string): string {
  return TITLES.get(source) ?? source
}

/** By what a source knows its service again: of its own choice, and the same each time. */
const key = z.string().check(z.regex(/^[!-~]([ -~]{0,198}[!-~])?$/, 'must be 1 to 200 printable characters'))

/** What is the same for all types. A source must say where a service leads; nothing of it is guessed. */
const own = {
  key,
  /** A service that a person disabled stays so until a person enables it again. */
  enabled: f.withDefault(z.boolean(), true),
  backendPort: f.port,
}
const { domain, ...shared } = columnOf(SERVICE_FIELDS, 'form')
const { port, ssl } = columnOf(TCP_FIELDS, 'form')

/** Sign-in is not for sources: it is no field of theirs, and a domain with sign-in is refused. */
export const PublishedHttp = z.strictObject({
  ...own,
  ...shared,
  type: z.literal('http'),
  /**
   * Never the console's. One that is unknown is made, and goes with the last of the source's services there: where DNS
   * leads to the server, or a person gave it to the node.
   */
  domain: f.domainName,
  ...columnOf(HTTP_FIELDS_OF_AGENTS, 'form'),
})

/** Without `port` the server takes the lowest that is free, which the service then keeps. */
export const PublishedTcp = z.strictObject({
  ...own,
  ...shared,
  type: z.literal('tcp'),
  domain,
  port,
  /** Needs a domain, whose certificate it has. */
  ssl,
})

export const PublishedUdp = z.strictObject({
  ...own,
  ...shared,
  type: z.literal('udp'),
  domain,
  port,
})

/** One service as its source wants it. The server judges each by itself. */
export type PublishedService =
  | z.input<typeof PublishedHttp>
  | z.input<typeof PublishedTcp>
  | z.input<typeof PublishedUdp>

/** All services that a source of the node wants; those that it does not name any more go. */
export const PublishForm = z.strictObject({
  source: SourceName,
  services: z.array(z.looseObject({ key })).check(z.maxLength(LIMITS.publishedServices)),
})
export type PublishForm = z.infer<typeof PublishForm>

/** What an agent sends. */
export interface PublishRequest {
  source: string
  services: PublishedService[]
}

const Published = z.object({
  key: z.string(),
  state: z.literal('published'),
  id: z.number(),
  type: z.enum(['http', ...PortProto.options]),
  /** Where visitors find it, like `https://grafana.example.com/` or `tcp://example.com:20001`. */
  address: z.string(),
  /** The public one of a TCP or UDP service. */
  port: z.optional(z.number()),
  enabled: z.boolean(),
  /** A person disabled it, whatever the source wants. */
  disabledByPerson: z.boolean(),
})

const Refused = z.object({
  key: z.string(),
  state: z.literal('refused'),
  /** In words, the field first: as the console's form says it. */
  errors: z.array(FieldError),
})

/** What became of one service of the set. A refused one is not there, even if it was before. */
export const Publication = z.discriminatedUnion('state', [Published, Refused])
export type Publication = z.infer<typeof Publication>

/** One for each service that was sent, in the same order. */
export const PublishAnswer = z.object({ services: z.array(Publication) })
export type PublishAnswer = z.infer<typeof PublishAnswer>
