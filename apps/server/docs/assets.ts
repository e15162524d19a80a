import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import type { IndexEntry } from './browser/match.ts'
import type { SiteAssets } from './page.ts'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const CONSOLE = '../../console/src'
const STYLES = [
  ...['tokens', 'base'].map((name) => `${CONSOLE}/styles/${name}.css`),
  ...['frame', 'text', 'search'].map((name) => `styles/${name}.css`),
]

/** The parts of every page, as files named by their content, so that browsers may cache them forever. */
export async function makeAssets(
  rootDir: string,
  index: readonly IndexEntry[],
): Promise<{ files: ReadonlyMap<string, string>; assets: SiteAssets }> {
  const styles = STYLES.map((file) => withoutComments(readFileSync(at(file), 'utf8')))
  const style = `${fontFaces(rootDir)}${styles.join('')}`
  const parts = {
    style: ['css', style],
    script: ['js', await bundle(at('browser/site.ts'))],
    index: ['json', JSON.stringify(index)],
    icon: ['svg', readFileSync(at(`${CONSOLE}/assets/favicon.svg`), 'utf8')],
  } as const
  const named = Object.entries(parts).map(([part, [kind, text]]) => {
    const hash = createHash('sha256').update(text).digest('base64url').slice(0, 10)
    return { part, name: `${part}-${hash}.${kind}`, text }
  })
  return {
    files: new Map(named.map(({ name, text }) => [name, text])),
    // One entry for each part, by its name.
    assets: Object.fromEntries(
      named.map(({ part, name }) => [part, `/docs/${name}`]),
    ) as unknown as SiteAssets,
  }
}

async function bundle(input: string): Promise<string> {
  const build = await rolldown({ input, transform: { target: 'es2022' } })
  const { output } = await build.generate({ format: 'iife', minify: true })
  await build.close()
  return output[0].code
}

/** The console's own files, which a browser may have cached already. Without a built console: the system's fonts. */
function fontFaces(rootDir: string): string {
  const dir = `${rootDir}/apps/console/dist/assets`
  const files = existsSync(dir) ? readdirSync(dir) : []
  const face = (family: string, start: string) => {
    const file = files.find((name) => name.startsWith(start) && name.endsWith('.woff2'))
    if (file === undefined) return ''
    return `@font-face{font-family:"${family}";font-weight:100 900;font-display:swap;src:url("/assets/${file}") format("woff2")}\n`
  }
  return face('Geist Variable', 'geist-latin-wght') + face('Geist Mono Variable', 'geist-mono-latin-wght')
}

function withoutComments(css: string): string {
  return css
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\n\s*/g, '\n')
    .replace(/\n+/g, '\n')
}
