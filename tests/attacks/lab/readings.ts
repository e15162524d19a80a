/** The service that a path leads to in the lab: the longest prefix wins. */
function serviceOf(path: string): 'admin' | 'root' {
  return path === '/admin' || path.startsWith('/admin/') ? 'admin' : 'root'
}

const charOf = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))
const decode = (text: string) => text.replace(/%([0-9a-f]{2})/gi, charOf)
/** As IIS does. */
const decodeUnicode = (text: string) => text.replace(/%u([0-9a-f]{4})/gi, charOf)
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const dropControls = (text: string) => text.replace(/[\u0000-\u001f\u007f]/g, '')
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const endAtControl = (text: string) => text.replace(/[\u0000-\u001f\u007f].*$/s, '')
const cutParameters = (path: string) => path.replace(/;[^/]*/g, '')
const mergeSlashes = (path: string) => path.replaceAll('\\', '/').replace(/\/{2,}/g, '/')

/** As `new URL(path, base)`, PHP's `parse_url` and Java's `URI` do: a host may follow two slashes. */
const HOST = /^(\/\/[^/]*|[/\\]{2,}[^/\\]*)/
const cutHost = (path: string) => path.replace(HOST, '') || '/'

function resolveDots(path: string): string {
  const kept: string[] = []
  for (const segment of path.split('/').slice(1)) {
    if (segment === '..') kept.pop()
    else if (segment !== '.') kept.push(segment)
  }
  return `/${kept.join('/')}`
}

/** A name without trailing dots or blanks, as Windows reads it; a name of only these becomes `alone`. */
const asOnWindows = (alone: (segment: string) => string) => (path: string) =>
  path
    .split('/')
    .map((segment) =>
      /^\.{0,2}$/.test(segment) ? segment : /[^. ]/.test(segment) ? cutEnd(segment) : alone(segment),
    )
    .join('/')
const cutEnd = (segment: string) => segment.replace(/(?<![. ])[. ]+$/, '')
const WINDOWS = [
  asOnWindows(() => '.'),
  asOnWindows((segment) => (segment.split('.').length > 2 ? '..' : '.')),
  asOnWindows((segment) => segment.trimEnd() || '.'),
]

/**
 * The services that various programs could take a target for: with escapes decoded never, once or twice, with those
 * of IIS or not, with control characters or not, or ended at one, with parameters or without, with a host at its
 * beginning or not, with slashes merged or not, with names as they are or as on Windows, with dot segments or resolved.
 * More than one: it must be refused.
 */
export function possibleServices(target: string): Set<'admin' | 'root'> {
  const [path = ''] = target.split('?')
  const either = (paths: string[], change: (path: string) => string) => [...paths, ...paths.map(change)]
  const decoded = [path, decode(path), decode(decode(path))]
  const known = either(decoded, decodeUnicode)
  const visible = [...known, ...known.map(dropControls), ...known.map(endAtControl)]
  const plain = either(either(either(visible, cutParameters), cutHost), mergeSlashes)
  const named = [...plain, ...WINDOWS.flatMap((read) => plain.map(read))]
  const readings = either(named, resolveDots)
  return new Set(readings.map(serviceOf))
}
