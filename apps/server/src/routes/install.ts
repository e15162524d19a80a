import type { FastifyInstance } from 'fastify'
import { getImportableRoot } from '../certificates/importable.ts'
import { NotFoundError } from '../core/errors.ts'

/** What a host needs before it has a credential: the agent with the root it knows by its hash, and the root for people. */
export function installRoutes(app: FastifyInstance): void {
  const { agentBundle, authority } = app.context
  app.get('/install/postern', (_request, reply) => {
    if (!agentBundle) throw new NotFoundError('Agent')
    return reply
      .type('application/octet-stream')
      .header('content-disposition', 'attachment; filename="postern"')
      .header('cache-control', 'no-cache')
      .send(agentBundle.content)
  })
  app.get('/install/ca.crt', (_request, reply) =>
    reply
      .type('application/x-x509-ca-cert')
      .header('content-disposition', 'attachment; filename="postern-ca.crt"')
      .header('cache-control', 'no-cache')
      .send(authority.certificates),
  )
  // Windows opens the one, programs are given the other.
  for (const name of ['root.crt', 'ca.pem'])
    app.get(`/install/${name}`, async (_request, reply) =>
      reply
        .type('application/x-x509-ca-cert')
        .header('content-disposition', `attachment; filename="postern-${name}"`)
        .header('cache-control', 'no-cache')
        .send(await getImportableRoot(app.context)),
    )
}
