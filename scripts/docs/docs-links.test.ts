import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Environment } from '@postern/contract/settings/settings'
import { expect, test } from 'vitest'
import { serverUrls } from '../../apps/console/src/util/urls.ts'
import { readDocs } from '../../apps/server/docs/library.ts'

const ROOT = join(import.meta.dirname, '../..')
const pagesIn = (dir: string) =>
  readdirSync(join(ROOT, dir))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(dir, name))
const PAGES = ['.', 'docs', 'docs/network', 'docs/recipes', 'docs/decisions', 'bench'].flatMap(pagesIn)

/** The targets of a page's links and pictures, except those on other sites. */
function linksOf(page: string): string[] {
  const links = readFileSync(join(ROOT, page), 'utf8').matchAll(/\]\(([^)#\s]+)/g)
  const own = [...links].map(([, link = '']) => link).filter((link) => !/^https?:/.test(link))
  return own.map((link) => join(dirname(page), link))
}

test.each(PAGES)('%s has no broken links', (page) => {
  expect(linksOf(page).filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})

test("the guide's pictures are all shown, and those of the console are made by the browser tests", () => {
  const pictures = readdirSync(join(ROOT, 'docs/images')).map((name) => `docs/images/${name}`)
  const shown = PAGES.flatMap(linksOf).filter((path) => path.startsWith('docs/images/'))
  expect([...new Set(shown)].sort()).toEqual(pictures.sort())
  const taken = pictures.filter((path) => path.endsWith('.png'))
  const scenes = readFileSync(join(ROOT, 'tests/e2e/scenes.ts'), 'utf8')
  for (const picture of taken) expect(scenes).toContain(`'${picture.replace(/.*\/|\.png$/g, '')}'`)
})

test('each decision has a number of its own, in its file name and in its title', () => {
  const files = readdirSync(join(ROOT, 'docs/decisions'))
  const numbers = files.map((name) => name.slice(0, 4))
  expect(new Set(numbers).size).toBe(files.length)
  for (const name of files)
    expect(readFileSync(join(ROOT, 'docs/decisions', name), 'utf8')).toMatch(`# ${name.slice(0, 4)}: `)
})

test('each link of the console to the documentation leads to a page and a place on it', () => {
  const { docs, whatToDo, installer, root, setting, ...pages } = serverUrls
  const helped = (['failed', 'unanswered', 'node-offline'] as const).map(whatToDo)
  const library = readDocs(ROOT).pages
  const settings = Object.keys(Environment.shape).map(setting)
  const dead = [...Object.values(pages).map((url) => url()), ...helped, ...settings].filter((url) => {
    const [, page = '', anchor] = /^\/docs\/([a-z-]+)(?:#([a-z0-9-]+))?$/.exec(url) ?? []
    const html = library.get(page)?.html
    return html === undefined || (anchor !== undefined && !html.includes(` id="${anchor}"`))
  })
  expect(dead).toEqual([])
  expect([docs(), root(), installer('')]).toEqual(['/docs', '/install/root.crt', '/install/agent.sh'])
})
