const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
/** The last label of a public name: letters, or a punycode label; never digits only. */
const TOP_LABEL = /^([a-z]{2,63}|xn--[a-z0-9-]{0,58}[a-z0-9])$/

/** A public domain name in its one spelling: lower case, at least two labels, no dot at the end. */
export function isDomainName(text: string): boolean {
  const labels = text.split('.')
  const top = labels.at(-1) ?? ''
  return text.length <= 253 && labels.length > 1 && TOP_LABEL.test(top) && labels.every((l) => LABEL.test(l))
}

/** A name that may be looked up: like a domain name, but one label is enough and the last may be anything. */
export function isHostname(text: string): boolean {
  const name = text.toLowerCase()
  return name.length <= 253 && name.split('.').every((label) => LABEL.test(label)) && !/^[\d.]+$/.test(name)
}

/**
 * The one spelling of what a person typed as a domain: blanks and a final dot cut, lower case, Unicode as
 * punycode (UTS 46, by the platform's own URL parser). Not yet checked: see `isDomainName`.
 */
export function normaliseDomain(text: string): string {
  const trimmed = text.trim().replace(/\.$/, '').toLowerCase()
  if (/^[\x20-\x7e]*$/.test(trimmed)) return trimmed
  // Only a bare name may reach the URL parser: anything else could smuggle in a port, a path or a user.
  if (/[\s/\\?#@:[\]%*]/.test(trimmed)) return trimmed
  const url = URL.parse(`http://${trimmed}/`)
  // UTS 46 has other full stops besides ours.
  return url?.hostname.replace(/\.$/, '') ?? trimmed
}
