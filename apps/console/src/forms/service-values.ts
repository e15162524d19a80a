import { together } from '@postern/contract/fields'
import { LIMITS } from '@postern/contract/limits'
import { MESSAGES } from '@postern/contract/messages'
import type { Node } from '@postern/contract/nodes'
import { type HttpService, HttpServiceForm, type HttpServiceFormInput } from '@postern/contract/services'
import * as z from 'zod/mini'
import { backendText } from '../components/service-card/service-text.ts'
import { domainUrl } from '../util/urls.ts'

export const NEW_HTTP_SERVICE = {
  name: '',
  domain: '',
  pathLocation: '/',
  backendProto: 'http',
  backendHost: '',
  backendPort: LIMITS.defaultHttpPort,
  allowedIps: [],
  blockedIps: [],
  skipValidation: false,
} satisfies HttpServiceFormInput

/** What the service form holds while it is edited: texts, never null. */
export function httpServiceValues(service: HttpService) {
  return {
    name: service.name,
    domain: service.domain ?? '',
    pathLocation: service.pathLocation,
    backendProto: service.backendProto,
    backendHost: service.backendHost ?? '',
    backendPort: service.backendPort,
    allowedIps: [...service.allowedIps],
    blockedIps: [...service.blockedIps],
    skipValidation: false,
  } satisfies HttpServiceFormInput
}

/** A gateway and the local node reach other hosts; a plain node only serves itself. */
export function canNameHost(node: Pick<Node, 'isGateway' | 'isLocal'>): boolean {
  return node.isGateway || node.isLocal
}

/** What is wrong with the host, which only the node's kind can tell; undefined when nothing is. */
export function findHostError(
  node: Pick<Node, 'isGateway' | 'isLocal'>,
  backendHost: string | null | undefined,
): string | undefined {
  const named = Boolean(backendHost?.trim())
  if (canNameHost(node)) return named ? undefined : MESSAGES.required
  return named ? MESSAGES.backendHostRefused : undefined
}

/** The contract's schema, and the rule about the host that depends on the node. */
export function httpServiceSchema(node: Pick<Node, 'isGateway' | 'isLocal'>) {
  return HttpServiceForm.check(
    z.refine((form) => findHostError(node, form.backendHost) === undefined, {
      path: ['backendHost'],
      error: canNameHost(node) ? MESSAGES.required : MESSAGES.backendHostRefused,
      ...together,
    }),
  )
}

/** The route that the form describes so far: public address → backend. `publicUrl` is where services without a domain answer. */
export function previewRoute(
  values: Partial<HttpServiceFormInput>,
  publicUrl: string | undefined,
): { from: string; to: string } {
  const domain = values.domain?.trim().toLowerCase() ?? ''
  const base = domain === '' ? publicUrl : domainUrl(domain, publicUrl)
  const path = values.pathLocation?.trim() || '/'
  return {
    from: `${base ?? ''}${path.startsWith('/') ? path : `/${path}`}`,
    to: backendText({
      backendProto: values.backendProto || 'http',
      backendHost: values.backendHost?.trim() ?? null,
      backendPort: values.backendPort || LIMITS.defaultHttpPort,
    }),
  }
}
