import * as z from 'zod/mini'
import { Mute } from '../alerts/mute.ts'
import * as f from '../fields.ts'
import { listOrPage, orderBy, pageQuery, searchText } from '../lists.ts'
import { MESSAGES } from '../messages.ts'
import { columnOf, HTTP_FIELDS, SERVICE_FIELDS, TCP_FIELDS } from './service-fields.ts'

/** `tcp` is every service with a public port of its own, those over UDP too. */
export const ServiceType = z.enum(['http', 'tcp'])
export type ServiceType = z.infer<typeof ServiceType>

/** As headings and menus name a type: `HTTP`. */
export const typeName = (type: ServiceType): string => type.toUpperCase()

/** The fields of every service's form. */
const serviceForm = {
  ...columnOf(SERVICE_FIELDS, 'form'),
  /** For a domain that is created with this service: do not ask DNS whether it points here. */
  skipValidation: f.withDefault(z.boolean(), false),
  /** Its end, from now; replaces `endsAt`, which is what is kept. */
  ttl: z.optional(f.blankable(f.duration)),
}

/** What a person can set for an HTTP service; `http-service-form.ts` also checks the lines of `skipAuthRoutes`. */
const httpForm = {
  ...serviceForm,
  ...columnOf(HTTP_FIELDS, 'form'),
  /** A person knows that the name was the console's, or for the console that services had it. Asked once, not kept. */
  confirmUsedName: z.optional(f.withDefault(z.boolean(), false)),
}
export const HttpServiceFields = z.strictObject(httpForm).check(
  z.refine((form) => form.requireAuth !== true || Boolean(form.domain), {
    path: ['requireAuth'],
    error: MESSAGES.noAuthentication,
    ...f.together,
  }),
  z.refine((form) => Boolean(form.domain) || Boolean(form.pathLocation), {
    path: ['domain'],
    error: MESSAGES.domainOrPath,
    ...f.together,
  }),
)
export type HttpServiceForm = z.infer<typeof HttpServiceFields>
export type HttpServiceFormInput = z.input<typeof HttpServiceFields>

/** What a person can set for a TCP or UDP service. */
export const TcpServiceForm = z
  .strictObject({
    ...serviceForm,
    ...columnOf(TCP_FIELDS, 'form'),
    /**
     * A person confirms that the program may see the cookies of those who sign in at its address. Asked once, not
     * stored.
     */
    confirmSharedCookies: z.optional(f.withDefault(z.boolean(), false)),
  })
  .check(
    z.refine((form) => !(form.ssl === true && form.proto === 'udp'), {
      path: ['ssl'],
      error: MESSAGES.noTlsOverUdp,
      ...f.together,
    }),
  )
export type TcpServiceForm = z.infer<typeof TcpServiceForm>
export type TcpServiceFormInput = z.input<typeof TcpServiceForm>

/**
 * Whether the edges carry the service yet, and whether its backend answers them; `problem` says in words why not.
 * `live`: something answered; for UDP: it is forwarded. `checking`: nothing has answered or failed to yet. `failed`:
 * something is wrong on our side; `unanswered`: at the backend. `node-offline`: the node has no tunnel.
 * `node-disconnected`: a person disconnected it.
 */
export const ServiceState = z.object({
  phase: z.enum([
    'live',
    'checking',
    'applying',
    'unanswered',
    'failed',
    'node-offline',
    'node-disconnected',
  ]),
  problem: z.nullable(z.string()),
  /** What a person should know of a service that is live. */
  note: z.optional(z.string()),
  /** The last handshake of a node that was lost, in ms since the epoch. */
  lastSeen: z.optional(z.number()),
})
export type ServiceState = z.infer<typeof ServiceState>

/** What services of all types have. They share one sequence of ids. */
const service = {
  ...columnOf(SERVICE_FIELDS, 'record'),
  id: z.number(),
  nodeId: z.number(),
  nodeName: z.string(),
  enabled: z.boolean(),
  /** Whether visitors speak TLS to the edge. */
  ssl: z.boolean(),
  /** With a certificate of our own authority; browsers that do not know it show a warning. */
  selfSigned: z.boolean(),
  /** Its domain was saved without asking DNS whether it points here. */
  dnsUnchecked: z.boolean(),
  /** The address of the service, or null when nothing reaches it. */
  publicAccess: z.nullable(z.string()),
  /** True for the console's own service: it can be neither deleted nor disabled. */
  system: z.boolean(),
  /** The agent's source that publishes it; people can only disable, enable and delete it. Null: people manage it. */
  source: z.nullable(z.string()),
  state: ServiceState,
  mute: Mute,
  created_at: f.time,
  updated_at: f.time,
}

export const HttpService = z.object({
  ...service,
  ...columnOf(HTTP_FIELDS, 'record'),
  type: z.literal('http'),
})
export type HttpService = z.infer<typeof HttpService>

export const TcpService = z.object({
  ...service,
  ...columnOf(TCP_FIELDS, 'record'),
  type: z.literal('tcp'),
})
export type TcpService = z.infer<typeof TcpService>

export const Service = z.discriminatedUnion('type', [HttpService, TcpService])
export type Service = z.infer<typeof Service>

const nodeServiceQuery = { ...pageQuery, search: searchText, orderBy: orderBy(['name', 'created_at']) }
export const NodeServiceQuery = z.strictObject(nodeServiceQuery)
export const ServiceQuery = z.strictObject({
  ...nodeServiceQuery,
  domain: z.optional(z.string().check(z.maxLength(253))),
})
export type ServiceQuery = z.infer<typeof ServiceQuery>
export const ServiceList = listOrPage(Service)

/** What a row of the list of all services is in: a phase of its state, or disabled. */
export const ServiceStanding = z.enum([...ServiceState.shape.phase.options, 'disabled'])
export type ServiceStanding = z.infer<typeof ServiceStanding>

/** By the protocol that visitors speak. */
export const ServiceKind = z.enum(['http', 'tcp', 'udp'])
export type ServiceKind = z.infer<typeof ServiceKind>

/** Which services of all nodes; `search` also finds what they lead to and their nodes. */
function serviceFilter<N extends z.ZodMiniType<number>>(nodeId: N) {
  return {
    search: searchText,
    state: z.optional(ServiceStanding),
    node: z.optional(nodeId),
    domain: z.optional(z.string().check(z.maxLength(253))),
    kind: z.optional(ServiceKind),
  }
}

/** In a body, where a number is one. */
export const ServiceFilter = z.strictObject(serviceFilter(f.id))
export type ServiceFilter = z.infer<typeof ServiceFilter>

export const AllServicesQuery = z.strictObject({
  ...pageQuery,
  ...serviceFilter(f.idText),
  orderBy: orderBy(['name']),
})
export type AllServicesQuery = z.infer<typeof AllServicesQuery>
