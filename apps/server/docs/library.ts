import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { type DocsPage, renderDocsPage } from './render.ts'

/** The documentation of a repository: pages by their address below `/docs/`, and the names of pictures there. */
export interface DocsLibrary {
  pages: ReadonlyMap<string, DocsPage>
  images: ReadonlySet<string>
}

const IMAGE = /\.(png|jpg|webp|svg)$/

/** Reads and renders everything. A repository without documentation has an empty library. */
export function readDocs(rootDir: string): DocsLibrary {
  const sources = readSources(rootDir)
  const pictures = listFiles(`${rootDir}/docs/images`).filter((name) => IMAGE.test(name))
  const images = new Set(pictures.map((name) => `images/${name}`))
  const addressOf = (from: string) => (path: string) => {
    const file = posix.normalize(posix.join(posix.dirname(from), path))
    const page = [...sources].find(([, source]) => source.file === file)
    if (page) return page[0] === 'index' ? '/docs' : `/docs/${page[0]}`
    const image = file.replace(/^docs\//, '')
    return images.has(image) ? `/docs/${image}` : undefined
  }
  const pages = new Map(
    [...sources].map(([name, { file, text }]) => [name, renderDocsPage(text, addressOf(file))]),
  )
  if (!pages.has('index'))
    pages.set(
      'index',
      renderDocsPage(renderContents(pages), (path) => path),
    )
  return { pages, images }
}

interface Source {
  /** From the root of the repository. */
  file: string
  text: string
}

function readSources(rootDir: string): Map<string, Source> {
  const files = ['docs', 'docs/decisions'].flatMap((dir) =>
    listFiles(`${rootDir}/${dir}`)
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${dir}/${name}`),
  )
  if (existsSync(`${rootDir}/TERMS.md`)) files.push('TERMS.md')
  return new Map(
    files.map((file) => [
      file
        .replace(/^docs\//, '')
        .replace(/\.md$/, '')
        .toLowerCase(),
      { file, text: readFileSync(`${rootDir}/${file}`, 'utf8') },
    ]),
  )
}

function listFiles(dir: string): string[] {
  if (!existsSync(dir)) return []
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort()
}

function renderContents(pages: ReadonlyMap<string, DocsPage>): string {
  return `# Documentation\n\n${[...pages].map(([name, { title }]) => `- [${title}](/docs/${name})`).join('\n')}\n`
}
