import { Marked, type Token, type Tokens } from 'marked'
import { createSlugs, escapeHtml, plainText, type Section, sectionsOf, summaryOf } from './sections.ts'

/** One page: `html` is the body, safe to be put into a page; everything else is plain text. */
export interface DocsPage {
  title: string
  /** The first sentence. */
  summary: string
  html: string
  /** From the top; the first one is the page itself. */
  sections: readonly Section[]
}

/** Turns a relative link into the address below `/docs`; undefined when nothing is served there. */
export type ResolveLink = (path: string) => string | undefined

/** The target of links into a table, in a form that also works in other Markdown viewers. */
const SPOT = /^<a id="([a-z0-9-]+)">$/

/** Renders Markdown. HTML in it is shown as text; links lead only to http, https, mail and our own pages. */
export function renderDocsPage(markdown: string, resolve: ResolveLink): DocsPage {
  const marked = new Marked({ gfm: true })
  const ids = new WeakMap<Token, string>()
  marked.use({
    renderer: {
      html: ({ text }: Tokens.HTML | Tokens.Tag) => spotOf(text) ?? escapeHtml(text),
      heading(token: Tokens.Heading) {
        const id = ids.get(token) ?? ''
        const html = this.parser.parseInline(token.tokens)
        const words = html.includes('<a ') ? escapeHtml(plainText([token])) : html
        if (token.depth === 1) return `<h1 id="${id}">${words}</h1>\n`
        // A link to itself, so that a person can copy it.
        return `<h${token.depth} id="${id}"><a href="#${id}">${words}</a></h${token.depth}>\n`
      },
      table({ header, rows }: Tokens.Table) {
        const heads = header.map((cell) => `<th>${this.parser.parseInline(cell.tokens)}</th>`)
        const labels = header.map((cell) => escapeHtml(plainText(cell.tokens)))
        // On a narrow screen, each cell shows its heading beside it.
        const lines = rows.map((row) =>
          row.map(
            (cell, at) => `<td data-label="${labels[at]}">${this.parser.parseInline(cell.tokens)}</td>`,
          ),
        )
        const body = lines.map((cells) => `<tr>${cells.join('')}</tr>`).join('\n')
        return `<table><thead><tr>${heads.join('')}</tr></thead><tbody>${body}</tbody></table>\n`
      },
      link({ href, tokens }: Tokens.Link) {
        const html = this.parser.parseInline(tokens)
        const target = targetOf(href, resolve)
        return target === undefined ? html : `<a href="${escapeHtml(target)}">${html}</a>`
      },
      image({ href, text }: Tokens.Image) {
        const target = href.includes(':') ? undefined : resolve(href)
        if (target === undefined) return escapeHtml(text)
        return `<img src="${escapeHtml(target)}" alt="${escapeHtml(text)}" loading="lazy">`
      },
    },
  })
  const tokens = marked.lexer(markdown)
  for (const token of tokens) if (isTable(token)) dropEmptyColumns(token)
  const slugs = createSlugs()
  for (const token of tokens) if (token.type === 'heading') ids.set(token, slugs(plainText([token])))
  const sections = sectionsOf(tokens, (token) => ids.get(token) ?? '')
  const title = sections[0]?.title || 'Documentation'
  return { title, summary: summaryOf(tokens), html: reachable(marked.parser(tokens)), sections }
}

function isTable(token: Token): token is Tokens.Table {
  return token.type === 'table'
}

/** The parts only for the repository's readers may have been a whole column. */
function dropEmptyColumns({ header, rows }: Tokens.Table): void {
  for (let at = header.length - 1; at > 0; at--) {
    if (rows.some((row) => row[at]?.text.trim())) continue
    for (const row of [header, ...rows]) row.splice(at, 1)
  }
}

function spotOf(html: string): string | undefined {
  const id = SPOT.exec(html)?.[1]
  if (id !== undefined) return `<span id="${id}"></span>`
  return html === '</a>' ? '' : undefined
}

/**
 * Makes whatever scrolls sideways scrollable by keyboard. No such tag comes from a text, because its HTML was
 * escaped.
 */
function reachable(html: string): string {
  return html
    .replaceAll('<pre>', '<pre tabindex="0">')
    .replaceAll('<table>', '<div class="wide" role="region" aria-label="Table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
}

function targetOf(href: string, resolve: ResolveLink): string | undefined {
  if (/^(https?:\/\/|mailto:)/i.test(href) || href.startsWith('#')) return href
  if (/^[a-z][a-z0-9+.-]*:/i.test(href) || href.startsWith('//')) return undefined
  const [path = '', anchor] = href.split('#')
  const target = resolve(path)
  return target === undefined || anchor === undefined ? target : `${target}#${anchor}`
}
