import { readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { NotFoundError } from '../core/errors.ts'
import { readDocs } from '../docs/library.ts'
import { type NavEntry, renderDocument } from '../docs/page.ts'

/** The documentation of the repository, rendered when the server starts. */
export function docsRoutes(app: FastifyInstance): void {
  const { pages, images } = readDocs(app.context.config.rootDir)
  const css = readFileSync(new URL('../docs/docs.css', import.meta.url))

  const sendPage = (reply: FastifyReply, name: string) => {
    const page = pages.get(name)
    if (!page) throw new NotFoundError('Page')
    return reply
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-cache')
      .send(renderDocument(page, navOf(name)))
  }
  /** Decisions are read from where they are linked; the list would drown in them. */
  const navOf = (current: string): NavEntry[] =>
    [...pages]
      .filter(([name]) => !name.includes('/'))
      .sort(([a], [b]) => Number(b === 'index') - Number(a === 'index') || a.localeCompare(b))
      .map(([name, { title }]) => ({
        href: name === 'index' ? '/docs' : `/docs/${name}`,
        title,
        isCurrent: name === current,
      }))

  app.get('/docs', (_request, reply) => sendPage(reply, 'index'))
  app.get('/docs/docs.css', (_request, reply) =>
    reply.type('text/css; charset=utf-8').header('cache-control', 'no-cache').send(css),
  )
  app.get<{ Params: { '*': string } }>('/docs/*', (request, reply) => {
    const name = request.params['*'].replace(/\/$/, '')
    const image = images.get(name)
    if (!image) return sendPage(reply, name === '' ? 'index' : name)
    return reply.type(image.type).header('cache-control', 'no-cache').send(image.content)
  })
}
