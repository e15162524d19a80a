import { together } from '@postern/contract/fields'
import { LIMITS } from '@postern/contract/limits'
import { MESSAGES } from '@postern/contract/messages'
import type { Node } from '@postern/contract/nodes'
import { isReservedPath, reservedPathMessage } from '@postern/contract/reserved-paths'
import { HttpServiceForm } from '@postern/contract/services/http-service-form'
import { columnOf, HTTP_FIELDS, SERVICE_FIELDS, TCP_FIELDS } from '@postern/contract/services/service-fields'
import type { HttpServiceFormInput, TcpServiceFormInput } from '@postern/contract/services/services'
import * as z from 'zod/mini'
import { canNameHost } from '../../api/rules.ts'
import { backendText } from '../../components/service-card/service-text.ts'
import { domainUrl } from '../../util/urls.ts'

/** The values in the forms of all service types. */
export type ServiceValues = Pick<
  HttpServiceFormInput,
  | 'name'
  | 'domain'
  | 'backendHost'
  | 'backendPort'
  | 'allowedIps'
  | 'blockedIps'
  | 'endsAt'
  | 'ttl'
  | 'skipValidation'
>

const NEW_SERVICE = { ...columnOf(SERVICE_FIELDS, 'start'), ttl: '', skipValidation: false }

export const NEW_HTTP_SERVICE = {
  ...NEW_SERVICE,
  ...columnOf(HTTP_FIELDS, 'start'),
  confirmUsedName: false,
} satisfies HttpServiceFormInput

export const NEW_TCP_SERVICE = {
  ...NEW_SERVICE,
  ...columnOf(TCP_FIELDS, 'start'),
  confirmSharedCookies: false,
} satisfies TcpServiceFormInput

/**
 * A service form's values while it is edited: texts, never null.
 * @param start the values of a new service, used where the record has none
 */
export function serviceValues<In extends object>(start: In, service: { [K in keyof In]?: In[K] | null }): In {
  const names = Object.keys(start) as (keyof In)[] // An object of its own, which has no others.
  const values = names.map((name) => [name, service[name] ?? start[name]])
  return Object.fromEntries(values)
}

/** The hint for a plain node's backend: the CLI forwards to 127.0.0.1, a WireGuard file does not. */
export function plainHint(node: Pick<Node, 'address' | 'isGateway' | 'isLocal' | 'usesFile'>) {
  if (canNameHost(node)) return undefined
  const own = 'This node can only expose its own services. Make it a gateway to reach other hosts.'
  if (!node.usesFile) return own
  return `${own} The program must listen on ${node.address}, because this node uses a WireGuard file.`
}

/** The host's error that depends on the node's kind; undefined: none. */
export function findHostError(
  node: Pick<Node, 'isGateway' | 'isLocal'>,
  backendHost: string | null | undefined,
): string | undefined {
  const named = Boolean(backendHost?.trim())
  if (canNameHost(node)) return named ? undefined : MESSAGES.required
  return named ? MESSAGES.backendHostRefused : undefined
}

/** The schema of a service form, and the rule about the host that depends on the node. */
export function schemaForNode<Out extends { backendHost: string | null }, In>(
  schema: z.ZodMiniType<Out, In>,
  node: Pick<Node, 'isGateway' | 'isLocal'>,
) {
  return schema.check(
    z.refine((form) => findHostError(node, form.backendHost) === undefined, {
      path: ['backendHost'],
      error: canNameHost(node) ? MESSAGES.required : MESSAGES.backendHostRefused,
      ...together,
    }),
  )
}

/** Why a service cannot have its address; only the server knows the console's domains. */
export function findPathError({ domain, pathLocation }: Partial<HttpServiceFormInput>): string | undefined {
  const path = pathLocation?.trim() || '/'
  return !domain?.trim() && path.startsWith('/') && isReservedPath(path)
    ? reservedPathMessage(path, null)
    : undefined
}

/** The same for an HTTP service, which cannot have the console's paths unless it is the console. */
export function schemaForHttp(node: Pick<Node, 'isGateway' | 'isLocal'>, isConsole: boolean) {
  const schema = schemaForNode(HttpServiceForm, node)
  if (isConsole) return schema
  return schema.check(
    z.superRefine((form, found) => {
      const message = findPathError(form)
      if (message === undefined) return
      found.addIssue({ code: 'custom', path: ['pathLocation'], message, input: form.pathLocation })
    }, together),
  )
}

/** The route of a form in progress: public address → backend. */
export interface Route {
  from: string
  to: string
}

/** The context of a previewed route: its node, and the address of services without a domain. */
export interface RoutePlace {
  node: Pick<Node, 'isGateway' | 'isLocal'>
  publicUrl: string | undefined
  /** The console itself, which has the paths that no other service can have. */
  isConsole?: boolean
}

export function previewHttpRoute(
  values: Partial<HttpServiceFormInput>,
  { node, publicUrl, isConsole = false }: RoutePlace,
): Route {
  const domain = values.domain?.trim().toLowerCase() ?? ''
  const base = domain === '' ? publicUrl : domainUrl(isName(domain) ? domain : '…', publicUrl)
  const path = !isConsole && findPathError(values) ? '/…' : values.pathLocation?.trim() || '/'
  return {
    from: `${base ?? ''}${path.startsWith('/') ? path : `/${path}`}`,
    to: backendText({
      backendProto: values.backendProto || 'http',
      backendHost: previewHost(values, node),
      backendPort: values.backendPort || LIMITS.defaultHttpPort,
    }),
  }
}

export function previewTcpRoute(
  values: Partial<TcpServiceFormInput>,
  { node, publicUrl }: RoutePlace,
): Route {
  const proto = values.proto || 'tcp'
  const host = values.domain?.trim().toLowerCase() || URL.parse(publicUrl ?? '')?.hostname
  return {
    from: `${proto}://${host ?? ''}:${values.port || 'assigned'}`,
    to: backendText({
      proto,
      backendHost: previewHost(values, node),
      backendPort: values.backendPort || '…',
    }),
  }
}

/** The domain and the path of an address that was pasted where only a domain belongs. */
export function readAddress(text: string): { domain: string; path: string } | undefined {
  const url = /^https?:\/\//i.test(text.trim()) ? URL.parse(text.trim()) : null
  return url ? { domain: url.hostname, path: url.pathname } : undefined
}

/** A half-typed text is no address yet. */
const isName = (text: string) => /^[\p{L}\p{N}.-]+$/u.test(text)

/** Null: the node itself. Where a host is required, none is shown until it is typed. */
function previewHost({ backendHost }: Partial<ServiceValues>, node: RoutePlace['node']): string | null {
  return backendHost?.trim() || (canNameHost(node) ? '…' : null)
}
