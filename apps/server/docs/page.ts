import { ICONS } from './icons.ts'
import type { OutlineGroup, OutlinePage } from './outline.ts'
import { escapeHtml, type Section } from './sections.ts'

/** The addresses of the parts of every page, named by content. */
export interface SiteAssets {
  style: string
  script: string
  index: string
  icon: string
}

export interface Frame {
  assets: SiteAssets
  outline: readonly OutlineGroup[]
}

export interface PageContent {
  /** The address below `/docs/`; undefined for a page that has none. */
  name: string | undefined
  title: string
  html: string
  sections: readonly Section[]
}

export const hrefOf = (name: string) => (name === 'index' ? '/docs' : `/docs/${name}`)

/** A whole page. It and its links also work without scripts. */
export function renderDocument(content: PageContent, frame: Frame): string {
  const { title, html, name } = content
  const { assets } = frame
  return `<!doctype html>
<html lang="en" data-index="${assets.index}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Postern</title>
<link rel="icon" href="${assets.icon}" type="image/svg+xml">
<link rel="stylesheet" href="${assets.style}">
<script src="${assets.script}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
${HEADER}
<div class="layout">
<nav class="pages" id="pages" popover aria-label="Documentation">${renderOutline(frame.outline, name)}</nav>
<main id="content" tabindex="-1"><article>${html}</article>
${renderNeighbours(frame.outline, name)}</main>
${renderContents(content.sections)}
</div>
</body>
</html>
`
}

/** Elements that need the script are hidden until it runs. */
const HEADER = `<header class="bar">
<button class="icon-btn open-pages" type="button" popovertarget="pages" aria-label="Pages">${ICONS.menu}</button>
<a class="brand" href="/docs">${ICONS.glyph}<span class="word">Postern</span> <span class="docs">Docs</span></a>
<button class="find" type="button" hidden>${ICONS.search}<span>Search</span><kbd>/</kbd></button>
<a class="to-console" href="/">Console</a>
<button class="icon-btn theme" type="button" hidden>${ICONS.auto}${ICONS.light}${ICONS.dark}</button>
</header>`

function renderOutline(outline: readonly OutlineGroup[], current: string | undefined): string {
  const groups = outline.map(({ title, pages }) => {
    const id = `group-${title.toLowerCase()}`
    const links = pages.map((page) => `<li>${renderLink(page, page.name === current)}</li>`).join('')
    return `<p class="group" id="${id}">${escapeHtml(title)}</p><ul aria-labelledby="${id}">${links}</ul>`
  })
  return groups.join('')
}

function renderLink({ name, title }: OutlinePage, isCurrent: boolean): string {
  return `<a href="${hrefOf(name)}"${isCurrent ? ' aria-current="page"' : ''}>${escapeHtml(title)}</a>`
}

/** A page outside the outline has none. */
function renderNeighbours(outline: readonly OutlineGroup[], current: string | undefined): string {
  const all = outline.flatMap(({ pages }) => pages)
  const at = all.findIndex(({ name }) => name === current)
  if (at < 0) return ''
  const link = (page: OutlinePage | undefined, rel: string, words: string) =>
    page
      ? `<a class="${rel}" rel="${rel}" href="${hrefOf(page.name)}"><span>${words}</span>${escapeHtml(page.title)}</a>`
      : ''
  return `<nav class="neighbours" aria-label="Previous and next page">${link(all[at - 1], 'prev', 'Previous')}${link(all[at + 1], 'next', 'Next')}</nav>`
}

/** The headings of the page; none for a short page. */
function renderContents(sections: readonly Section[]): string {
  const shown = sections.filter(({ depth }) => depth === 2 || depth === 3)
  if (shown.length < 2) return ''
  const links = shown
    .map(({ id, title, depth }) => `<li class="h${depth}"><a href="#${id}">${escapeHtml(title)}</a></li>`)
    .join('')
  return `<nav class="contents" aria-labelledby="contents-title"><p class="group" id="contents-title">On this page</p><ul>${links}</ul></nav>`
}
