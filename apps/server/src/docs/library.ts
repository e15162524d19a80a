import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { type DocsPage, renderDocsPage } from './render.ts'

/** The pages and pictures of the repository's documentation, by their address below `/docs/`. */
export interface DocsLibrary {
  pages: ReadonlyMap<string, DocsPage>
  images: ReadonlyMap<string, DocsImage>
}

export interface DocsImage {
  type: string
  content: Buffer
}

const IMAGE_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.svg': 'image/svg+xml',
}
const MAX_IMAGE_BYTES = 4 * 1024 * 1024

/** Reads and renders everything once. A repository without documentation has an empty library. */
export function readDocs(rootDir: string): DocsLibrary {
  const sources = readSources(rootDir)
  const images = readImages(`${rootDir}/docs/images`)
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

function readImages(dir: string): Map<string, DocsImage> {
  return new Map(
    listFiles(dir).flatMap((name): [string, DocsImage][] => {
      const type = IMAGE_TYPES[posix.extname(name)]
      const content = type === undefined ? undefined : readFileSync(`${dir}/${name}`)
      if (type === undefined || content === undefined || content.length > MAX_IMAGE_BYTES) return []
      return [[`images/${name}`, { type, content }]]
    }),
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
