import { Marked, type Tokens } from 'marked'

/** One page: `html` is the body, safe to be put into a page; `title` is plain text. */
export interface DocsPage {
  title: string
  html: string
}

/** What a relative link may lead to: the address below `/docs`, or undefined when nothing is served there. */
export type ResolveLink = (path: string) => string | undefined

/** Renders Markdown. HTML in it is shown as text; links lead only to http, https, mail and our own pages. */
export function renderDocsPage(markdown: string, resolve: ResolveLink): DocsPage {
  const marked = new Marked({ gfm: true })
  marked.use({
    renderer: {
      html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
      heading({ tokens, depth }: Tokens.Heading) {
        const html = this.parser.parseInline(tokens)
        return `<h${depth} id="${slugOf(html)}">${html}</h${depth}>\n`
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
  const html = reachable(marked.parse(markdown, { async: false }))
  const title = /^# (.+)$/m.exec(markdown)?.[1]?.replace(/[`*_]/g, '') ?? 'Documentation'
  return { title, html }
}

/** What scrolls sideways can be scrolled by keyboard. No such tag comes from a text: HTML in it was escaped. */
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

function slugOf(html: string): string {
  return html
    .replace(/<[^>]*>|&[a-z0-9#]+;/gi, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
