import { PROOF_PATH } from '@postern/contract/reserved-paths'
import type { FastifyInstance } from 'fastify'
import { NotFoundError } from '../core/errors.ts'

/** Answers the server's own question, which it sent to the address of a domain. */
export function proofRoutes(app: FastifyInstance): void {
  app.get<{ Params: { nonce: string } }>(`${PROOF_PATH}/:nonce`, (request, reply) => {
    const secret = app.context.proofs.find(request.params.nonce)
    if (secret === undefined) throw new NotFoundError('Page')
    return reply.type('text/plain').header('cache-control', 'no-store').send(secret)
  })
}
