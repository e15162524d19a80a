/** Styles may be inline because the console's dialogs and toasts place themselves. */
const OWN_ORIGIN = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** Any host, since only the first policy can say `'self'`, and only names, not IPv6 addresses, can have a path. */
const scriptsBelow = (path: string) => `${OWN_ORIGIN}, script-src *:*${path}`

/**
 * Two policies; a browser holds to both. A script must come from the console's own origin and from below `/assets/`:
 * services beside the console have paths at that origin, but never this one.
 */
export const CONTENT_POLICY = scriptsBelow('/assets/')

/** The documentation's, whose path no service has either. */
export const DOCS_POLICY = scriptsBelow('/docs/')
