import type { HaproxyOptions, HaproxyPaths } from './options.ts'

/** Pages of our own, one per reason. They hold no value of a request, load nothing and are never cached. */
const PAGES = {
  'bad-request': {
    status: 400,
    title: 'This request cannot be read',
    text: 'The address or host of the request is not valid.',
  },
  forbidden: {
    status: 403,
    title: 'Not allowed from here',
    text: 'This service does not accept visitors from your network address.',
  },
  unknown: {
    status: 404,
    title: 'Nothing is published here',
    text: 'The server is running, but no service answers at this address. Check the spelling of the address.',
  },
  away: {
    status: 421,
    title: 'The console is not at this address',
    text: 'This machine carries services only. The console of this installation answers at another address.',
  },
  'too-many': {
    status: 429,
    title: 'Too many connections',
    text: 'Your network has too many connections open here. Close some, and try again in a moment.',
  },
  'too-many-requests': {
    status: 429,
    title: 'Too many requests at once',
    text: 'Your network asks for too much here at once. Wait a moment, and try again.',
  },
  'too-large': {
    status: 431,
    title: 'This request is too large',
    text: 'Its address and headers are larger than 30 kB. Deleting the cookies of this site usually helps.',
  },
  timeout: { status: 408, title: 'The request took too long', text: 'It did not arrive in full in time.' },
  internal: {
    status: 500,
    title: 'The request failed',
    text: 'The proxy could not handle it. If this keeps happening, tell the person who runs this server.',
  },
  'bad-answer': {
    status: 502,
    title: 'The service gave no valid answer',
    text: 'It was reached, but its answer broke off or could not be understood.',
  },
  'tunnel-down': {
    status: 502,
    title: 'The private network is not connected',
    text: 'The tunnel to the place where this service runs is down. It comes back by itself once the node is online.',
  },
  unresolved: {
    status: 502,
    title: "This service can't be reached right now",
    text: 'Try again in a moment.',
  },
  disabled: {
    status: 503,
    title: 'This service is turned off at the moment',
    text: 'It will answer here once it is turned on again.',
  },
  full: {
    status: 503,
    title: 'The server has no room left',
    text: 'Too many visitors are here at the same time. Try again in a moment.',
  },
  unreachable: {
    status: 503,
    title: 'The service does not answer',
    text: "Postern couldn't connect to this service. Try again in a moment.",
  },
  'no-answer': {
    status: 504,
    title: 'The service took too long',
    text: 'It was reached, but did not answer in time.',
  },
} as const

export type PageName = keyof typeof PAGES

export const pageNames = Object.keys(PAGES) as PageName[] // the keys of a literal

export function pageStatus(name: PageName): number {
  return PAGES[name].status
}

/**
 * Those that an operator wants to know more about. All of them lead to the console in the same way, whoever reads them and
 * whatever is published, so the link tells nothing; the address goes along as the browser's referrer.
 */
const EXPLAINED: readonly PageName[] = [
  'forbidden',
  'unknown',
  'bad-answer',
  'tunnel-down',
  'unresolved',
  'disabled',
  'unreachable',
  'no-answer',
]

type Installation = Pick<HaproxyOptions, 'publicHost' | 'httpsPort'>

function renderLink({ publicHost, httpsPort }: Installation): string {
  const host = publicHost.includes(':') ? `[${publicHost}]` : publicHost
  const url = `https://${host}${httpsPort === 443 ? '' : `:${httpsPort}`}/why`
  return ` · <a href="${url}" referrerpolicy="unsafe-url" rel="nofollow">Do you run this server? Find out why</a>`
}

/** In the colours of the console. */
const STYLE = `:root{color-scheme:light dark;--back:#f6f6f9;--text:#191822;--soft:#5b5b67;--line:#d2d2da;--mark:#6249da}
@media (prefers-color-scheme:dark){:root{--back:#0c0c10;--text:#eeeef2;--soft:#a3a3ae;--line:#383841;--mark:#b5b5ff}}
*{box-sizing:border-box}body{margin:0;min-height:100vh;display:grid;place-items:center;padding:24px;background:var(--back);
color:var(--text);font:16px/1.6 Geist,system-ui,sans-serif}main{max-width:30rem;width:100%;border-top:3px solid var(--mark);padding-top:24px}
p{margin:0;color:var(--soft)}p.code{font:600 14px/1.4 ui-monospace,monospace;color:var(--mark)}
h1{margin:8px 0 12px;font-size:26px;line-height:1.25;letter-spacing:-.01em}
footer{margin-top:32px;padding-top:12px;border-top:1px solid var(--line);font-size:13px;color:var(--soft)}a{color:inherit}`

export function renderPage(name: PageName, installation: Installation): string {
  const { status, title, text } = PAGES[name]
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex"><title>${title}</title><style>
${STYLE}
</style></head>
<body><main><p class="code">${status}</p><h1>${title}</h1><p>${text}</p><footer>Postern${EXPLAINED.includes(name) ? renderLink(installation) : ''}</footer></main></body></html>
`
}

/** The end of every rule that answers with a page of ours. */
export function renderPageBody(file: string): string {
  const policy = `"default-src 'none'; style-src 'unsafe-inline'"`
  return [
    `content-type "text/html; charset=utf-8" file ${file}`,
    'hdr cache-control no-store',
    `hdr content-security-policy ${policy}`,
    'hdr x-content-type-options nosniff',
  ].join(' ')
}

/** A rule that answers with a page of ours; a condition may follow. */
export function renderReturn(paths: HaproxyPaths, name: PageName): string {
  return `http-request return status ${pageStatus(name)} ${renderPageBody(paths.page(name))}`
}

/** Rules that answer with a page of ours under a condition, and give the reason to the service's log. */
export function renderRefusal(paths: HaproxyPaths, why: string, name: PageName, condition: string): string {
  return `  http-request set-var(txn.why) str(${why}) if ${condition}
  ${renderReturn(paths, name)} if { var(txn.why) -m str ${why} }`
}
