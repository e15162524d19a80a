import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readDocs, withoutTests } from './library.ts'
import { OUTLINE, outlineOf } from './outline.ts'
import { renderDocsPage } from './render.ts'

/** The documentation of this repository. */
const library = readDocs(fileURLToPath(new URL('../../..', import.meta.url)))
const { pages } = library
const names = [...pages.keys()]

describe('the sidebar', () => {
  it('has every page of the guide once, each with its own title', () => {
    const listed = OUTLINE.flatMap((group) => group.pages)
    expect(new Set(listed.map(({ name }) => name)).size).toBe(listed.length)
    expect(new Set(listed.map(({ title }) => title)).size).toBe(listed.length)
    const guide = names.filter((name) => !name.startsWith('decisions/'))
    expect(guide.filter((name) => !listed.some((page) => page.name === name))).toEqual([])
  })

  it('shows only pages that exist, and no empty group', () => {
    const outline = outlineOf((name) => name === 'cli')
    expect(outline).toEqual([{ title: 'Operate', pages: [{ name: 'cli', title: 'The postern command' }] }])
  })
})

describe('each link inside', () => {
  const anchors = new Map(
    [...pages].map(([name, { html }]) => [
      `/docs/${name}`,
      new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)),
    ]),
  )

  it.each(names)('%s leads to a page and a place on it', (name) => {
    const links = [...(pages.get(name)?.html.matchAll(/href="([^"]*)"/g) ?? [])].map(([, href = '']) => href)
    const own = links.filter((href) => href.startsWith('/docs') || href.startsWith('#'))
    const dead = own.filter((href) => {
      const [path = '', anchor] = href.split('#')
      const there = anchors.get(path === '' ? `/docs/${name}` : path)
      return !there || (anchor !== undefined && !there.has(anchor))
    })
    expect(dead).toEqual([])
  })

  it.each(names)('%s has each address once', (name) => {
    const ids = [...(pages.get(name)?.html.matchAll(/ id="([^"]*)"/g) ?? [])].map(([, id]) => id)
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
  })
})

describe('a page', () => {
  const render = (text: string) => renderDocsPage(text, (path) => `/docs/${path}`)

  it('numbers headings with the same words, and leaves the others alone', () => {
    const { sections } = render("# A\n\n## The `flags` & more\n\n## It's here\n\n## The flags more\n")
    expect(sections.map(({ id }) => id)).toEqual(['', 'the-flags-more', 'its-here', 'the-flags-more-2'])
  })

  it('gives a row of a table its own address, and no other HTML', () => {
    const { html, sections } = render(
      '# A\n\n| M | D |\n|-|-|\n| <a id="x-y"></a>*Full* | Empty `it` |\n| <a id="Z" onclick="x()"> | b |\n',
    )
    expect(html).toContain('<td data-label="M"><span id="x-y"></span><em>Full</em></td>')
    expect(html).not.toMatch(/<[^>]*onclick/)
    expect(sections.find(({ id }) => id === 'x-y')).toEqual({
      id: 'x-y',
      title: 'Full',
      depth: 0,
      text: 'Empty it',
    })
  })

  it('separates commands from their output, so that Copy takes only the commands', () => {
    const blocks = [...(pages.get('quick-start')?.html.matchAll(/<pre[^>]*><code>(.*?)<\/code>/gs) ?? [])]
    const kinds = blocks.map(([, code = '']) => {
      const lines = code.trim().split('\n')
      const commands = lines.filter((line) => /^(sudo|apt|echo) /.test(line))
      return commands.length === lines.length ? 'commands' : commands.length === 0 ? 'output' : 'both'
    })
    expect(kinds.sort()).toEqual(['commands', 'commands', 'commands', 'commands', 'output'])
  })

  it('leaves out the references to tests, and their column', () => {
    const named = '- **A.** `a/b.test.ts › x %s`, `› y, or z`, `c.test.tsx › w`\n- **B.** Of `a › b`.'
    expect(withoutTests(named)).toBe('- **A.**\n- **B.** Of `a › b`.')
    const { html, sections } = render(
      withoutTests('# A\n\n| D | P | Test |\n|-|-|-|\n| 1 | | `a.test.ts › x` |\n| 2 | b | `› y` |\n'),
    )
    expect(html.match(/<(th|td [^>]*)>/g)).toEqual([
      ...['<th>', '<th>'],
      ...['<td data-label="D">', '<td data-label="P">', '<td data-label="D">', '<td data-label="P">'],
    ])
    expect(sections[0]?.text).not.toContain('Test')
    expect(pages.get('security')?.html).not.toMatch(/›|<th>Test/)
  })

  it('has a summary', () => {
    expect(render('# A\n\nIt **works** with `x.y`. And more.').summary).toBe('It works with x.y.')
    expect(render('# A\n\nYou need:\n\n- b').summary).toBe('You need.')
  })
})
