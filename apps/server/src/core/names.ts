const SHOWN = 5

/** `“web”, “api” and 3 more`: names as a person reads them in a message. */
export function quoteNames(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN).map((name) => `“${name}”`)
  const more = names.length - shown.length
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
}
