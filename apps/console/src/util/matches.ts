/** The text cut at each occurrence of `needle`, case ignored; every odd part is a match. */
export function splitMatches(text: string, needle: string): string[] {
  if (needle === '') return [text]
  const parts: string[] = []
  const lower = text.toLowerCase()
  // Some letters change length when lowered; then positions do not fit and nothing is marked.
  if (lower.length !== text.length) return [text]
  const wanted = needle.toLowerCase()
  let from = 0
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
    parts.push(text.slice(from, at), text.slice(at, at + wanted.length))
    from = at + wanted.length
  }
  parts.push(text.slice(from))
  return parts
}
