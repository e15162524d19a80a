import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { NotFoundError } from '../core/errors.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.svg': 'image/svg+xml',
}

/** The documentation, as `docs/write.ts` has rendered it. Only files that were there at the start have an address. */
export function docsRoutes(app: FastifyInstance): void {
  const files = listDocs(`${app.context.config.rootDir}/apps/server/dist/docs`)
  const send = async (reply: FastifyReply, address: string) => {
    const file = files.get(address)
    if (file === undefined) throw new NotFoundError('Page')
    const type = TYPES[extname(file)] ?? 'application/octet-stream'
    return reply
      .type(type)
      .header('cache-control', 'no-cache')
      .send(await readFile(file))
  }
  app.get('/docs', (_request, reply) => send(reply, 'index'))
  app.get<{ Params: { '*': string } }>('/docs/*', (request, reply) =>
    send(reply, request.params['*'].replace(/\/$/, '') || 'index'),
  )
}

/** The built files by their address below `/docs/`: that of a page has no ending. */
function listDocs(dir: string): ReadonlyMap<string, string> {
  if (!existsSync(dir)) return new Map()
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' })
  return new Map(
    names
      .filter((name) => extname(name) in TYPES)
      .map((name) => [name.replace(/\.html$/, ''), `${dir}/${name}`]),
  )
}
