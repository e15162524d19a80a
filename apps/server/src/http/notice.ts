/** A page of a few words for visitors of services. It loads nothing. */
export interface Notice {
  title: string
  /** Paragraphs. */
  text: readonly string[]
  link?: { to: string; text: string } | undefined
}

/** In the colours of the console, as the pages of HAProxy. */
const STYLE = `:root{color-scheme:light dark;--back:#f6f6f9;--text:#191822;--soft:#5b5b67;--line:#d2d2da;--mark:#6249da;--on:#ffffff}
@media (prefers-color-scheme:dark){:root{--back:#0c0c10;--text:#eeeef2;--soft:#a3a3ae;--line:#383841;--mark:#6c57e8;--on:#ffffff}}
*{box-sizing:border-box}body{margin:0;min-height:100vh;display:grid;place-items:center;padding:24px;background:var(--back);
color:var(--text);font:16px/1.6 Geist,system-ui,sans-serif}main{max-width:30rem;width:100%;border-top:3px solid var(--mark);padding-top:24px}
p{margin:0 0 12px;color:var(--soft);overflow-wrap:anywhere}strong{color:var(--text);font-weight:600}
h1{margin:0 0 12px;font-size:26px;line-height:1.25;letter-spacing:-.01em}
a{display:inline-block;margin-top:12px;padding:9px 16px;border-radius:8px;background:var(--mark);color:var(--on);font-weight:600;
text-decoration:none}a:focus-visible{outline:2px solid var(--text);outline-offset:2px}
footer{margin-top:32px;padding-top:12px;border-top:1px solid var(--line);font-size:13px;color:var(--soft)}`

/** What is between two `*` is strong. */
export function renderNotice({ title, text, link }: Notice): string {
  const paragraphs = text.map(
    (words) => `<p>${escapeHtml(words).replace(/\*([^*]+)\*/g, '<strong>$1</strong>')}</p>`,
  )
  const button = link ? `<a href="${escapeHtml(link.to)}">${escapeHtml(link.text)}</a>` : ''
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex"><title>${escapeHtml(title)}</title><style>
${STYLE}
</style></head>
<body><main><h1>${escapeHtml(title)}</h1>${paragraphs.join('')}${button}<footer>Postern</footer></main></body></html>
`
}

function escapeHtml(text: string): string {
  const names: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return text.replace(/[&<>"']/g, (letter) => names[letter] ?? '')
}
