import { existsSync } from 'node:fs'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { NotFoundError } from '../core/errors.ts'

/** Paths that are never pages of the console. */
const NOT_PAGES = ['/api', '/assets', '/install', '/docs', '/.well-known']

/** As the build names bundled files: by their content. */
const HASHED = /\/assets\/[^/]+-[\w-]+\.\w+(\.br|\.gz)?$/

/** Serves the built console; every path without another route is one of its pages. */
export async function serveConsole(app: FastifyInstance): Promise<void> {
  const root = `${app.context.config.rootDir}/apps/console/dist`
  const isBuilt = existsSync(`${root}/index.html`)
  if (isBuilt) {
    // Only the assets and the one page: another file would need a reserved path.
    await app.register(fastifyStatic, {
      root: `${root}/assets`,
      prefix: '/assets/',
      index: false,
      cacheControl: false,
      // The build puts `x.br` and `x.gz` beside each file.
      preCompressed: true,
      setHeaders: (reply, path) =>
        reply.header('cache-control', HASHED.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache'),
    })
    app.get('/', (_request, reply) => reply.sendFile('index.html', root))
  }
  app.setNotFoundHandler((request, reply) => {
    if (!isPage(request)) throw new NotFoundError('Page')
    return isBuilt ? reply.sendFile('index.html', root) : tellToBuild(reply)
  })
}

function isPage(request: FastifyRequest): boolean {
  const path = request.url.split('?')[0] ?? ''
  if (request.method !== 'GET' && request.method !== 'HEAD') return false
  if (NOT_PAGES.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))) return false
  return /text\/html|\*\/\*/.test(request.headers.accept ?? '')
}

function tellToBuild(reply: FastifyReply) {
  return reply.type('text/plain; charset=utf-8').send('The console is not built yet. Run: npm run build\n')
}
