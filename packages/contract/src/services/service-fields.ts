import * as z from 'zod/mini'
import * as f from '../fields.ts'
import { LIMITS } from '../limits.ts'

/** The protocol of a service with a public port of its own, for its visitors and at its backend. */
export const PortProto = z.enum(['tcp', 'udp'])
export type PortProto = z.infer<typeof PortProto>

export const BackendProto = z.enum(['http', 'https'])
export type BackendProto = z.infer<typeof BackendProto>

/**
 * One field of a service: its schema for forms and agents, its schema in the API's answers, and the value with which
 * the console's form starts, or which it shows where the record has none.
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
  /** When the server deletes the service; null for never. */
  endsAt: field(f.blankable(f.instant), nullable, ''),
}

/** A field that the route also has, with a default for states of releases that did not know it. */
const onOrOff = () => ({ ...yesOrNo(), route: z._default(z.boolean(), false) })

/** Booleans that are the same in a form, a label, the API and the route that HAProxy gets. */
export const HTTP_SWITCHES = {
  /** The backend gets the path without `pathLocation`. Counts only where that is not `/`. */
  stripPath: onOrOff(),
}

/** The fields of an HTTP service that agents can set as well as people. */
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
  /** The paths that need no sign-in: a path or an expression on each line. Counts only with `requireAuth`. */
  skipAuthRoutes: field(f.blankable(z.string().check(z.maxLength(LIMITS.bypassLength))), nullable, ''),
}

export const TCP_FIELDS = {
  /** The public port. Without it the server takes the lowest free one. */
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
