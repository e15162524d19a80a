/**
 * Why an edge of this version is not spoken with; undefined: it is. Servers are upgraded first, and know the edges of
 * the version before: a newer edge may say what this server does not know.
 */
export function whyNotVersion(own: string, edge: string): string | undefined {
  const [[major = 0, minor = 0], [theirs = 0, theirMinor = 0]] = [partsOf(own), partsOf(edge)]
  if (theirs < major || (theirs === major && theirMinor <= minor)) return undefined
  return `This edge has version ${edge}, and the server ${own}. Upgrade the server first, or install the edge of its version.`
}

const partsOf = (version: string) => version.split('.').map((part) => Number.parseInt(part, 10) || 0)
