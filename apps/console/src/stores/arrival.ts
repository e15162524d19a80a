const ARRIVAL_KEY = 'signed-in'

/** Tells the document after this one, in this tab, that the person has just signed in. */
export function markArrival(): void {
  sessionStorage.setItem(ARRIVAL_KEY, 'now')
}

/** Whether the person has just signed in, once. */
export function takeArrival(): boolean {
  const hasArrived = sessionStorage.getItem(ARRIVAL_KEY) !== null
  sessionStorage.removeItem(ARRIVAL_KEY)
  return hasArrived
}
