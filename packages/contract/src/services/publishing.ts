import * as z from 'zod/mini'
import { FieldError } from '../errors.ts'
import * as f from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { columnOf, HTTP_FIELDS_OF_AGENTS, PortProto, SERVICE_FIELDS, TCP_FIELDS } from './service-fields.ts'

/**
 * Where an agent learns which services its node has, like `docker` or `file`. Each source manages only its own
 * services.
 */
export const SourceName = z.string().check(z.regex(/^[a-z][a-z0-9-]{0,31}$/))

const TITLES: ReadonlyMap<string, string> = new Map([
  ['docker', 'Docker'],
  ['file', 'File'],
  ['kubernetes', 'Kubernetes'],
  ['home-assistant', 'Home Assistant'],
])

/** A source's name for people. */
export function titleOfSource(source: string): string {
  return TITLES.get(source) ?? source
}

/** The key by which a source recognises its service: the source chooses it and always sends the same. */
const key = z.string().check(z.regex(/^[!-~]([ -~]{0,198}[!-~])?$/, 'must be 1 to 200 printable characters'))

/** Fields of all types. A source must say where a service leads; nothing is guessed. */
const own = {
  key,
  /** A service that a person disabled stays disabled until a person enables it again. */
  enabled: f.withDefault(z.boolean(), true),
  backendPort: f.port,
}
const { domain, ...shared } = columnOf(SERVICE_FIELDS, 'form')
const { port, ssl } = columnOf(TCP_FIELDS, 'form')

/** Sources cannot set sign-in: they have no field for it, and a domain with sign-in is refused. */
export const PublishedHttp = z.strictObject({
  ...own,
  ...shared,
  type: z.literal('http'),
  /**
   * Never the console's. An unknown domain is created if its DNS points to the server or a person gave it to the
   * node; it goes with the last of the source's services there.
   */
  domain: f.domainName,
  ...columnOf(HTTP_FIELDS_OF_AGENTS, 'form'),
})

/** Without `port` the server takes the lowest free one, which the service then keeps. */
export const PublishedTcp = z.strictObject({
  ...own,
  ...shared,
  type: z.literal('tcp'),
  domain,
  port,
  /** Needs a domain, whose certificate it uses. */
  ssl,
})

export const PublishedUdp = z.strictObject({
  ...own,
  ...shared,
  type: z.literal('udp'),
  domain,
  port,
})

/** One service as its source wants it. The server accepts or refuses each on its own. */
export type PublishedService =
  | z.input<typeof PublishedHttp>
  | z.input<typeof PublishedTcp>
  | z.input<typeof PublishedUdp>

/** All services that a source of the node wants; the server removes those that are no longer among them. */
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
  /** A person has disabled it, whatever the source wants. */
  disabledByPerson: z.boolean(),
})

const Refused = z.object({
  key: z.string(),
  state: z.literal('refused'),
  /** In words, the field first, as in the console's form. */
  errors: z.array(FieldError),
})

/** The outcome for one service of the set. A refused one is not published, even if it was before. */
export const Publication = z.discriminatedUnion('state', [Published, Refused])
export type Publication = z.infer<typeof Publication>

/** One for each service that was sent, in the same order. */
export const PublishAnswer = z.object({ services: z.array(Publication) })
export type PublishAnswer = z.infer<typeof PublishAnswer>
