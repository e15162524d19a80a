import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readDocs } from './library.ts'
import { type NavEntry, renderDocument } from './page.ts'
import type { DocsPage } from './render.ts'

/** Renders the documentation of a repository into files that are named as it is addressed below `/docs/`. */
export function writeDocs(rootDir: string): void {
  const target = join(rootDir, 'apps/server/dist/docs')
  rmSync(target, { recursive: true, force: true })
  const { pages, images } = readDocs(rootDir)
  const write = (name: string, text: string) => {
    const file = join(target, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  for (const [name, page] of pages) write(`${name}.html`, renderDocument(page, navOf(pages, name)))
  for (const name of images) cpSync(join(rootDir, 'docs', name), join(target, name))
  cpSync(fileURLToPath(new URL('docs.css', import.meta.url)), join(target, 'docs.css'))
}

/** Decisions are read from where they are linked; the list would drown in them. */
function navOf(pages: ReadonlyMap<string, DocsPage>, current: string): NavEntry[] {
  return [...pages]
    .filter(([name]) => !name.includes('/'))
    .sort(([a], [b]) => Number(b === 'index') - Number(a === 'index') || a.localeCompare(b))
    .map(([name, { title }]) => ({
      href: name === 'index' ? '/docs' : `/docs/${name}`,
      title,
      isCurrent: name === current,
    }))
}
