import { type DocsPage, escapeHtml } from './render.ts'

export interface NavEntry {
  href: string
  title: string
  isCurrent: boolean
}

/** A whole page. There is no script in it, so that the strict policy of the server holds. */
export function renderDocument({ title, html }: DocsPage, nav: readonly NavEntry[]): string {
  const links = nav
    .map(({ href, title, isCurrent }) => {
      const current = isCurrent ? ' aria-current="page"' : ''
      return `<li><a href="${escapeHtml(href)}"${current}>${escapeHtml(title)}</a></li>`
    })
    .join('')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Postern</title>
<link rel="stylesheet" href="/docs/docs.css">
</head>
<body>
<header><a class="brand" href="/">Postern</a><span>Documentation</span></header>
<div class="layout">
<nav aria-label="Documentation"><ul>${links}</ul></nav>
<main>${html}</main>
</div>
</body>
</html>
`
}
