/** What was seen, and behind the first sentence what to do about it. */
export function toSentences(words: string): { seen: string; next: string | null } {
  const end = /[.!](?= [A-Z])/.exec(words)?.index
  const seen = end === undefined ? words : words.slice(0, end + 1)
  const next = end === undefined ? '' : words.slice(end + 1).trim()
  return { seen: withFullStop(seen), next: next === '' ? null : withFullStop(next) }
}

export function withFullStop(words: string): string {
  return /[.!?]$/.test(words) ? words : `${words}.`
}

/** `12 s`, `5 min`, `3 h` or `2 days`. */
export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`
}
