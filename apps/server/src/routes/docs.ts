import { existsSync, readdirSync } from 'node:fs'
import { extname } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { NotFoundError } from '../core/errors.ts'
import { DOCS_POLICY } from '../http/content-policy.ts'

/** Types of files with an address of their own; their compressed forms are sent in their place. */
const SERVED = new Set(['.html', '.css', '.js', '.json', '.png', '.jpg', '.webp', '.svg'])

/** As the build names the parts of every page: by their content. */
const HASHED = /^[a-z]+-[\w-]{10}\.(css|js|json|svg)$/

const NOT_FOUND = '404.html'

/** The documentation, as rendered by `docs/write.ts`. Only files that existed at the start have an address. */
export async function docsRoutes(app: FastifyInstance): Promise<void> {
  const root = `${app.context.config.rootDir}/apps/server/dist/docs`
  if (!existsSync(root)) return declare(app, () => Promise.reject(new NotFoundError('Page')))
  const files = listDocs(root)
  await app.register(async (scope) => {
    const plain = { index: false, cacheControl: false, serve: false } as const
    await scope.register(fastifyStatic, { root, preCompressed: true, ...plain })
    declare(scope, async (reply, address) => {
      const file = files.get(address) ?? NOT_FOUND
      if (file === NOT_FOUND) reply.code(404)
      const keep = HASHED.test(file) ? 'public, max-age=31536000, immutable' : 'no-cache'
      return reply.headers({ 'content-security-policy': DOCS_POLICY, 'cache-control': keep }).sendFile(file)
    })
  })
}

function declare(
  app: FastifyInstance,
  send: (reply: FastifyReply, address: string) => Promise<FastifyReply>,
): void {
  // A program that looks for it knows no documentation.
  app.get('/api/openapi.json', (_request, reply) => send(reply, 'openapi.json'))
  app.get('/docs', (_request, reply) => send(reply, 'index'))
  app.get<{ Params: { '*': string } }>('/docs/*', (request, reply) =>
    send(reply, request.params['*'].replace(/\/$/, '') || 'index'),
  )
}

/** The built files by their address below `/docs/`; a page's address has no extension. */
function listDocs(dir: string): ReadonlyMap<string, string> {
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' })
  return new Map(
    names.filter((name) => SERVED.has(extname(name))).map((name) => [name.replace(/\.html$/, ''), name]),
  )
}
