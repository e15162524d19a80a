import { createReadStream } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { getImportableRoot } from '../certificates/importable.ts'
import { NotFoundError } from '../core/errors.ts'
import { SINGLE_FILES } from '../core/nodes/agent-files.ts'

/**
 * The files that a host needs before it has a credential: agent, edge and root, all checked by their hashes, and the
 * root for people.
 */
export function installRoutes(app: FastifyInstance): void {
  agentRoutes(app)
  edgeRoutes(app)
  rootRoutes(app)
}

function agentRoutes(app: FastifyInstance): void {
  const { agentFiles } = app.context
  const whole = { 'agent.sh': agentFiles?.installer, postern: agentFiles?.bundle }
  for (const [name, file] of Object.entries(whole))
    app.get(`/install/${name}`, (_request, reply) => {
      if (!file) throw new NotFoundError('Agent')
      return reply.headers(downloadOf(name)).send(file.content)
    })
  for (const machine of SINGLE_FILES) {
    const name = `postern-${machine}.gz`
    const file = agentFiles?.singles.get(machine)
    app.get(`/install/${name}`, (_request, reply) => {
      if (!file) throw new NotFoundError('Agent')
      // Compressed as a file, not for transfer: its checksum is that of the compressed file.
      reply.headers({ ...downloadOf(name), 'content-length': file.size })
      return reply.send(createReadStream(file.path))
    })
  }
}

function edgeRoutes(app: FastifyInstance): void {
  const { edgeFiles } = app.context
  app.get('/install/edge.sh', async (_request, reply) => {
    const installer = await edgeFiles.installer()
    if (!installer) throw new NotFoundError('Edge')
    return reply.headers(downloadOf('edge.sh')).send(installer.content)
  })
  app.get('/install/edge.tar.gz', async (_request, reply) => {
    const archive = await edgeFiles.archive()
    if (!archive) throw new NotFoundError('Edge')
    reply.headers({ ...downloadOf('edge.tar.gz'), 'content-length': archive.size })
    return reply.send(createReadStream(archive.path))
  })
}

const downloadOf = (name: string) => ({
  'content-type': 'application/octet-stream',
  'content-disposition': `attachment; filename="${name}"`,
  'cache-control': 'no-cache',
})

function rootRoutes(app: FastifyInstance): void {
  const { authority } = app.context
  app.get('/install/ca.crt', (_request, reply) =>
    reply
      .type('application/x-x509-ca-cert')
      .header('content-disposition', 'attachment; filename="postern-ca.crt"')
      .header('cache-control', 'no-cache')
      .send(authority.certificates),
  )
  // Windows opens the first, programs take the second.
  for (const name of ['root.crt', 'ca.pem'])
    app.get(`/install/${name}`, async (_request, reply) =>
      reply
        .type('application/x-x509-ca-cert')
        .header('content-disposition', `attachment; filename="postern-${name}"`)
        .header('cache-control', 'no-cache')
        .send(await getImportableRoot(app.context)),
    )
}
