/**
 * The public path of a service in its one spelling: no slash at the end, except for the root itself.
 * Not yet checked: see `isServicePath`.
 */
export function normaliseServicePath(text: string): string {
  const trimmed = text.trim()
  return trimmed.length > 1 && trimmed.endsWith('/') && !trimmed.endsWith('//')
    ? trimmed.slice(0, -1)
    : trimmed
}

/** `/`, or segments of letters, digits, `.`, `_`, `~`, `-`, none of them empty, `.` or `..`; at most 255 characters. */
export function isServicePath(text: string): boolean {
  if (text === '/') return true
  if (text.length > 255 || !/^(\/[A-Za-z0-9._~-]+)+$/.test(text)) return false
  return !text.split('/').some((segment) => segment === '.' || segment === '..')
}
