import type { DocsLibrary } from './library.ts'
import type { OutlineGroup } from './outline.ts'
import { hrefOf, type PageContent } from './page.ts'
import { escapeHtml } from './sections.ts'

/** The first page: all pages, by group. */
export function renderHome({ pages }: DocsLibrary, outline: readonly OutlineGroup[]): PageContent {
  const groups = outline.map(({ title, pages: own }) => {
    const cards = own.map(
      ({ name, title }) =>
        `<li><a href="${hrefOf(name)}">${escapeHtml(title)}</a><p>${escapeHtml(pages.get(name)?.summary ?? '')}</p></li>`,
    )
    return `<section><h2 id="${title.toLowerCase()}">${escapeHtml(title)}</h2><ul class="cards">${cards.join('')}</ul></section>`
  })
  const decisions = hasDecisions({ pages }) ? `<p>${DECISIONS_LINK}</p>` : ''
  return {
    name: 'index',
    title: 'Documentation',
    html: `<h1 id="documentation">Documentation</h1>${INTRO}${groups.join('')}${decisions}`,
    sections: [],
  }
}

const INTRO =
  '<p class="lead">Postern publishes services of private networks on the internet, through a server of your own. Begin with the <a href="/docs/quick-start">quick start</a>: from an empty server to the first service in about ten minutes. Something went wrong? <a href="/docs/troubleshooting">Troubleshooting</a> explains every message.</p>'

const DECISIONS_LINK = 'Why Postern is built as it is: <a href="/docs/decisions">the decisions</a>.'

/** The list of decisions, which would be too long for the sidebar. */
export function renderDecisions({ pages }: DocsLibrary): PageContent {
  const links = decisionsOf(pages).map(
    (name) => `<li><a href="${hrefOf(name)}">${escapeHtml(pages.get(name)?.title ?? name)}</a></li>`,
  )
  return {
    name: 'decisions',
    title: 'Decisions',
    html: `<h1 id="decisions">Decisions</h1><p>What was decided, why, and what it costs.</p><ul>${links.join('')}</ul>`,
    sections: [],
  }
}

/** An image has none. */
export function hasDecisions({ pages }: Pick<DocsLibrary, 'pages'>): boolean {
  return decisionsOf(pages).length > 0
}

function decisionsOf(pages: DocsLibrary['pages']): string[] {
  return [...pages.keys()].filter((name) => name.startsWith('decisions/'))
}

export const NOT_FOUND: PageContent = {
  name: undefined,
  title: 'Page not found',
  html: '<h1 id="page-not-found">Page not found</h1><p>There is no page at this address. Look for it in the list of pages or by searching, or go to the <a href="/docs">first page</a>.</p>',
  sections: [],
}
