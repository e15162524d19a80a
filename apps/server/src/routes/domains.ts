import { endpoints } from '@postern/contract/endpoints/endpoints'
import { PROOF_PATH } from '@postern/contract/reserved-paths'
import type { FastifyInstance } from 'fastify'
import { describeImportableRoot } from '../certificates/importable.ts'
import { createDomain, removeDomain, retryCertificate, updateDomain } from '../core/domains/domains.ts'
import { listEndingCertificates } from '../core/domains/ending.ts'
import { getDomain, listDomains } from '../core/domains/records.ts'
import { NotFoundError } from '../core/errors.ts'
import { endSessions, listSignIns } from '../core/sign-in/record.ts'
import { formRoute, route } from '../http/route.ts'

export function domainRoutes(app: FastifyInstance): void {
  route(app, endpoints.listDomains, ({ context, query }) => listDomains(context, query))
  route(app, endpoints.listEndingCertificates, ({ context }) => listEndingCertificates(context))
  // For all of its names, whoever asks.
  route(app, endpoints.getRoot, () => describeImportableRoot(app.context))
  formRoute(app, endpoints.createDomain, ({ context, actor, patch }) => createDomain(context, actor, patch))
  route(app, endpoints.getDomain, ({ context, params }) => getDomain(context, params.id))
  formRoute(app, endpoints.updateDomain, ({ context, actor, params, patch }) =>
    updateDomain(context, actor, params.id, patch),
  )
  route(app, endpoints.retryCertificate, ({ context, actor, params }) =>
    retryCertificate(context, actor, params.id),
  )
  route(app, endpoints.listSignIns, ({ context, params, query }) => listSignIns(context, params.id, query))
  route(app, endpoints.endSessions, ({ context, actor, params, body }) =>
    endSessions(context, actor, params.id, body.email),
  )
  route(app, endpoints.deleteDomain, ({ context, actor, params }) => removeDomain(context, actor, params.id))
  proofRoute(app)
}

/** Answers the server's own request, which it sent to the address of a domain. */
function proofRoute(app: FastifyInstance): void {
  app.get<{ Params: { nonce: string } }>(`${PROOF_PATH}/:nonce`, (request, reply) => {
    const secret = app.context.proofs.find(request.params.nonce)
    if (secret === undefined) throw new NotFoundError('Page')
    return reply.type('text/plain').header('cache-control', 'no-store').send(secret)
  })
}
