import * as z from 'zod/mini'
import * as f from './fields.ts'
import { LIMITS } from './limits.ts'
import { listOrPage, pageQuery } from './lists.ts'
import { MESSAGES } from './messages.ts'

export const ServiceType = z.enum(['http'])
export type ServiceType = z.infer<typeof ServiceType>

export const BackendProto = z.enum(['http', 'https'])
export type BackendProto = z.infer<typeof BackendProto>

/** What a person can say about an HTTP service. Whether `backendHost` is needed depends on the node. */
export const HttpServiceForm = z
  .strictObject({
    name: f.name,
    domain: f.blankable(f.domainName),
    pathLocation: f.blankable(f.servicePath),
    backendProto: f.withDefault(BackendProto, 'http'),
    backendHost: f.blankable(f.backendHost),
    backendPort: f.withDefault(f.port, LIMITS.defaultHttpPort),
    allowedIps: f.listOf(f.ipOrCidr, LIMITS.ipListEntries),
    blockedIps: f.listOf(f.ipOrCidr, LIMITS.ipListEntries),
    /** For a domain that is new with this service: do not ask DNS whether it points here. */
    skipValidation: f.withDefault(z.boolean(), false),
  })
  .check(
    z.refine((form) => Boolean(form.domain) || Boolean(form.pathLocation), {
      path: ['domain'],
      error: MESSAGES.domainOrPath,
      ...f.together,
    }),
  )
export type HttpServiceForm = z.infer<typeof HttpServiceForm>
export type HttpServiceFormInput = z.input<typeof HttpServiceForm>

/**
 * Whether the edges carry the service yet, and whether its backend answers them; `problem` says in words why not.
 * `failed` is for what is wrong on our side, `unanswered` for what is wrong at the backend.
 */
export const ServiceState = z.object({
  phase: z.enum(['live', 'applying', 'unanswered', 'failed']),
  problem: z.nullable(z.string()),
})
export type ServiceState = z.infer<typeof ServiceState>

/** What services of all types have. They share one sequence of ids. */
const service = {
  id: z.number(),
  nodeId: z.number(),
  name: z.string(),
  domain: z.nullable(z.string()),
  backendHost: z.nullable(z.string()),
  backendPort: z.number(),
  allowedIps: z.array(z.string()),
  blockedIps: z.array(z.string()),
  enabled: z.boolean(),
  ssl: z.boolean(),
  /** The address of the service, or null when nothing reaches it. */
  publicAccess: z.nullable(z.string()),
  /** True for the console's own service: it can be neither deleted nor disabled. */
  system: z.boolean(),
  state: ServiceState,
  created_at: f.time,
  updated_at: f.time,
}

export const HttpService = z.object({
  ...service,
  type: z.literal('http'),
  pathLocation: z.string(),
  backendProto: BackendProto,
})
export type HttpService = z.infer<typeof HttpService>

export const Service = z.discriminatedUnion('type', [HttpService])
export type Service = z.infer<typeof Service>

export const ServiceQuery = z.strictObject({
  ...pageQuery,
  domain: z.optional(z.string().check(z.maxLength(253))),
})
export type ServiceQuery = z.infer<typeof ServiceQuery>
export const NodeServiceQuery = z.strictObject(pageQuery)
export const ServiceList = listOrPage(Service)
