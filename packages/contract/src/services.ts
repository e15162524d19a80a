import * as z from 'zod/mini'
import * as f from './fields.ts'
import { LIMITS } from './limits.ts'
import { listOrPage, pageQuery } from './lists.ts'
import { MESSAGES } from './messages.ts'

export const BackendProto = z.enum(['http', 'https'])
export type BackendProto = z.infer<typeof BackendProto>

/** What a person can say about an HTTP service. Whether `backendHost` is needed depends on the node. */
export const HttpServiceForm = z
  .strictObject({
    name: f.name,
    domain: f.blankable(f.domainName),
    pathLocation: f.blankable(f.servicePath),
    backendProto: z._default(BackendProto, 'http'),
    backendHost: f.blankable(f.backendHost),
    backendPort: z._default(f.port, LIMITS.defaultHttpPort),
    allowedIps: f.listOf(f.ipOrCidr, LIMITS.ipListEntries),
    blockedIps: f.listOf(f.ipOrCidr, LIMITS.ipListEntries),
    /** For a domain that is new with this service: do not ask DNS whether it points here. */
    skipValidation: z._default(z.boolean(), false),
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

/** Whether the edges carry the service yet; `problem` says in words why not. */
export const ServiceState = z.object({
  phase: z.enum(['live', 'applying', 'failed']),
  problem: z.nullable(z.string()),
})
export type ServiceState = z.infer<typeof ServiceState>

export const HttpService = z.object({
  id: z.number(),
  nodeId: z.number(),
  name: z.string(),
  domain: z.nullable(z.string()),
  pathLocation: z.string(),
  backendProto: BackendProto,
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
})
export type HttpService = z.infer<typeof HttpService>

export const ServiceQuery = z.strictObject({
  ...pageQuery,
  domain: z.optional(z.string().check(z.maxLength(253))),
})
export type ServiceQuery = z.infer<typeof ServiceQuery>
export const NodeServiceQuery = z.strictObject(pageQuery)
export const HttpServiceList = listOrPage(HttpService)

/** First path segments that belong to the console and the API wherever they answer. */
export const RESERVED_PATHS: readonly string[] = [
  'api',
  'assets',
  'docs',
  'install',
  '.well-known',
  'login',
  'domains',
  'nodes',
]
