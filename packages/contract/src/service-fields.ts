import * as z from 'zod/mini'
import * as f from './fields.ts'
import { LIMITS } from './limits.ts'

/** How a service with a public port of its own is reached, by visitors and at its backend. */
export const PortProto = z.enum(['tcp', 'udp'])
export type PortProto = z.infer<typeof PortProto>

export const BackendProto = z.enum(['http', 'https'])
export type BackendProto = z.infer<typeof BackendProto>

/**
 * One field of a service: as forms and agents say it, as the API tells it, and what the console's form of a new service
 * begins with, or shows where the record has nothing.
 */
function field<F extends z.ZodMiniType, R extends z.ZodMiniType>(form: F, record: R, start: z.input<F>) {
  return { form, record, start }
}

const yesOrNo = () => field(f.withDefault(z.boolean(), false), z.boolean(), false)
const nullable = z.nullable(z.string())

/** What services of all types have. Whether `backendHost` is needed depends on the node. */
export const SERVICE_FIELDS = {
  name: field(f.name, z.string(), ''),
  domain: field(f.blankable(f.domainName), nullable, ''),
  backendHost: field(f.blankable(f.backendHost), nullable, ''),
  allowedIps: field(f.listOf(f.ipOrCidr, LIMITS.ipListEntries), z.array(z.string()), []),
  blockedIps: field(f.listOf(f.ipOrCidr, LIMITS.ipListEntries), z.array(z.string()), []),
}

/** One that the route has, too, where a previous release said nothing of it. */
const onOrOff = () => ({ ...yesOrNo(), route: z._default(z.boolean(), false) })

/** Booleans that are the same in a form, a label, the API and the route that HAProxy gets. */
export const HTTP_SWITCHES = {
  /** The backend gets the path without `pathLocation`. Counts only where that is not `/`. */
  stripPath: onOrOff(),
}

/** What of an HTTP service agents say as well as people. */
export const HTTP_FIELDS_OF_AGENTS = {
  pathLocation: field(f.blankable(f.servicePath), z.string(), '/'),
  backendProto: field(f.withDefault(BackendProto, 'http'), BackendProto, 'http'),
  ...HTTP_SWITCHES,
}

export const HTTP_FIELDS = {
  ...HTTP_FIELDS_OF_AGENTS,
  backendPort: field(f.withDefault(f.port, LIMITS.defaultHttpPort), z.number(), LIMITS.defaultHttpPort),
  /** Visitors sign in first, as the domain says. */
  requireAuth: yesOrNo(),
  /** What needs no sign-in all the same: a path or an expression in each line. Counts only with `requireAuth`. */
  skipAuthRoutes: field(f.blankable(z.string().check(z.maxLength(LIMITS.bypassLength))), nullable, ''),
}

export const TCP_FIELDS = {
  /** The public one. Without it the server takes the lowest that is free. */
  port: field(f.blankable(f.port), z.number(), null),
  proto: field(f.withDefault(PortProto, 'tcp'), PortProto, 'tcp'),
  /** TLS ends at the edge: with the domain's certificate, or without a domain the installation's own. */
  ssl: yesOrNo(),
  /** The console shows 1883 first. */
  backendPort: field(f.requiredPort, z.number(), LIMITS.defaultTcpPort),
}

type Columns<T extends Record<string, { [K in C]: unknown }>, C extends string> = {
  [K in keyof T]: T[K][C]
}

/** One column of a table of fields. */
export function columnOf<C extends string, T extends Record<string, { [K in C]: unknown }>>(
  fields: T,
  column: C,
): Columns<T, C> {
  const all = Object.entries(fields).map(([name, each]) => [name, each[column]])
  // Each field keeps its name.
  return Object.fromEntries(all) as Columns<T, C>
}
