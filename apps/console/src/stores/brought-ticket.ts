let brought: string | null = null

/**
 * Takes what a sign-in at a provider has brought back (`#ticket=…`) out of the address, so that neither a reload nor a
 * copy of the address repeats it. To be called before the router reads the address.
 */
export function keepTicket(): void {
  const found = new URLSearchParams(location.hash.slice(1)).get('ticket')
  if (found === null) return
  brought = found
  history.replaceState(history.state, '', location.pathname + location.search)
}

export const hasTicket = (): boolean => brought !== null

/** It is good for one call. */
export function takeTicket(): string | null {
  const ticket = brought
  brought = null
  return ticket
}
