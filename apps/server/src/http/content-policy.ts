/** Styles may be inline because the console's dialogs and toasts position themselves. */
const OWN_ORIGIN = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** Any host: `'self'` cannot be combined with a path, and an IPv6 address cannot have one. */
const scriptsBelow = (path: string) => `${OWN_ORIGIN}, script-src *:*${path}`

/**
 * Two policies, which both apply. A script must come from the console's own origin and from below `/assets/`:
 * services beside the console have paths at that origin, but never this one.
 */
export const CONTENT_POLICY = scriptsBelow('/assets/')

/** The documentation's, whose path no service can have either. */
export const DOCS_POLICY = scriptsBelow('/docs/')
