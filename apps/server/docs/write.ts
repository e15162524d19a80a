import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { makeAssets } from './assets.ts'
import { hasDecisions, NOT_FOUND, renderDecisions, renderHome } from './home.ts'
import { OPENAPI, readDocs } from './library.ts'
import { outlineOf } from './outline.ts'
import { type PageContent, renderDocument } from './page.ts'
import { makeSearchIndex } from './search-index.ts'

/** Renders the documentation of a repository into files named by their addresses below `/docs/`. */
export async function writeDocs(rootDir: string): Promise<void> {
  const target = join(rootDir, 'apps/server/dist/docs')
  rmSync(target, { recursive: true, force: true })
  const library = readDocs(rootDir)
  const outline = outlineOf((name) => library.pages.has(name))
  const { files, assets } = await makeAssets(rootDir, makeSearchIndex(library, outline))
  const contents: PageContent[] = [
    renderHome(library, outline),
    ...(hasDecisions(library) ? [renderDecisions(library)] : []),
    ...[...library.pages].map(([name, page]) => ({ ...page, name })),
  ]
  for (const content of contents)
    writeText(join(target, `${content.name}.html`), renderDocument(content, { assets, outline }))
  writeText(join(target, '404.html'), renderDocument(NOT_FOUND, { assets, outline }))
  for (const [name, text] of files) writeText(join(target, name), text)
  if (existsSync(join(rootDir, OPENAPI)))
    writeText(
      join(target, 'openapi.json'),
      JSON.stringify(JSON.parse(readFileSync(join(rootDir, OPENAPI), 'utf8'))),
    )
  for (const name of library.images) cpSync(join(rootDir, 'docs', name), join(target, name))
}

/** Together with its compressed forms, because the server compresses nothing itself. */
function writeText(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  writeFileSync(`${file}.br`, brotliCompressSync(text))
  writeFileSync(`${file}.gz`, gzipSync(text, { level: 9 }))
}
