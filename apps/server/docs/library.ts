import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import type { OpenApi } from './reference/openapi.ts'
import { withReference } from './reference/reference.ts'
import { type DocsPage, renderDocsPage } from './render.ts'

/** The documentation of a repository: pages by their address below `/docs/`, and the names of its images. */
export interface DocsLibrary {
  pages: ReadonlyMap<string, DocsPage>
  images: ReadonlySet<string>
}

const IMAGE = /\.(png|jpg|webp|svg)$/

/** Where the pages are; the folder is part of a page's address. */
const FOLDERS = ['docs', 'docs/network', 'docs/recipes', 'docs/decisions']

/** Pages that are also written for readers of the repository, at its root. */
const AT_THE_ROOT = ['TERMS.md', 'SECURITY.md']

/** Reads and renders everything. A repository without documentation has an empty library. */
export function readDocs(rootDir: string): DocsLibrary {
  const sources = readSources(rootDir)
  const pictures = listFiles(`${rootDir}/docs/images`).filter((name) => IMAGE.test(name))
  const images = new Set(pictures.map((name) => `images/${name}`))
  const names = new Map([...sources].map(([name, { file }]) => [file, name]))
  const addressOf = (from: string) => (path: string) => {
    const file = posix.normalize(posix.join(posix.dirname(from), path))
    const page = names.get(file)
    if (page !== undefined) return `/docs/${page}`
    const image = file.replace(/^docs\//, '')
    return images.has(image) ? `/docs/${image}` : undefined
  }
  const pages = [...sources].map(
    ([name, { file, text }]) => [name, renderDocsPage(text, addressOf(file))] as const,
  )
  return { pages: withApi(rootDir, new Map(pages)), images }
}

/** Where the API is written down for programs; the page about it has the same. */
export const OPENAPI = 'docs/openapi.json'

function withApi(rootDir: string, pages: Map<string, DocsPage>): Map<string, DocsPage> {
  const page = pages.get('api')
  const file = `${rootDir}/${OPENAPI}`
  if (!page || !existsSync(file)) return pages
  const document: OpenApi = JSON.parse(readFileSync(file, 'utf8'))
  return pages.set('api', withReference(page, document))
}

interface Source {
  /** From the root of the repository. */
  file: string
  text: string
}

function readSources(rootDir: string): Map<string, Source> {
  const files = FOLDERS.flatMap((dir) =>
    listFiles(`${rootDir}/${dir}`)
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${dir}/${name}`),
  )
  files.push(...AT_THE_ROOT.filter((file) => existsSync(`${rootDir}/${file}`)))
  return new Map(
    files.map((file) => [
      file
        .replace(/^docs\//, '')
        .replace(/\.md$/, '')
        .toLowerCase(),
      { file, text: withoutTests(readFileSync(`${rootDir}/${file}`, 'utf8')) },
    ]),
  )
}

/**
 * References to tests are only for readers of the repository: `file.test.ts › its title`, or `› its title` for
 * another one in the same file.
 */
export function withoutTests(text: string): string {
  return text.replace(/,? ?`(?:[^`\n]*\.test\.tsx? )?› [^`\n]*`/g, '')
}

function listFiles(dir: string): string[] {
  if (!existsSync(dir)) return []
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort()
}
