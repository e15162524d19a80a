import { endpoints } from '@postern/contract/endpoints/endpoints'
import { findIp, formatIp } from '@postern/net/ip'
import type { FastifyInstance } from 'fastify'
import { askWhy, beginWhy } from '../core/why/ask.ts'
import type { PersonCaller } from '../http/auth.ts'
import { route } from '../http/route.ts'

export function whyRoutes(app: FastifyInstance): void {
  route(app, endpoints.beginWhy, ({ context, caller, body, request }) =>
    beginWhy(context, { ...askerOf(caller), ip: visitorOf(request.ip), nodeId: null }, body),
  )
  route(app, endpoints.getWhy, ({ context, caller, params }) =>
    context.whys.get(askerOf(caller).owner, params.id),
  )
  route(app, endpoints.agentWhy, ({ context, caller: { nodeId }, body, request }) =>
    askWhy(context, { owner: `node ${nodeId}`, ip: visitorOf(request.ip), nodeId }, body),
  )
  route(app, endpoints.edgeWhy, ({ context, caller, body }) =>
    askWhy(context, { owner: `edge ${caller.edgeId}`, ip: null, nodeId: null }, body),
  )
}

/** A token may see less than its person, but takes a part of the same share. */
const askerOf = (caller: PersonCaller) => ({
  owner: caller.kind === 'session' ? `session ${caller.sessionId}` : `API token ${caller.tokenId}`,
  share: `person ${caller.userId}`,
})

/** Whoever asks on the server's own machine is no visitor of services. */
function visitorOf(address: string | undefined): string | null {
  const ip = findIp(address ?? '')
  return !ip || /^(127\.|::1$)/.test(formatIp(ip)) ? null : formatIp(ip)
}
