interface Held {
  /** Of the page that must not be left. */
  pathname: string
  /** Its place in the history. */
  here: number
  ask: () => Promise<boolean>
  step: 'waiting' | 'returning' | 'leaving'
}

let held: Held | null = null

/** The place of an entry in the history, as the router numbers them; undefined for one that is not its own. */
function placeOf(state: unknown): number | undefined {
  const isOurs = typeof state === 'object' && state !== null && 'idx' in state
  return isOurs && typeof state.idx === 'number' ? state.idx : undefined
}

/** From now on, going back from this page asks first. @returns ends it */
export function holdBack(pathname: string, ask: () => Promise<boolean>): () => void {
  const here = placeOf(history.state)
  if (here === undefined) return () => undefined
  const mine: Held = { pathname, here, ask, step: 'waiting' }
  held = mine
  return () => {
    if (held === mine) held = null
  }
}

/**
 * Lets what is held ask. The browser tells only when it has gone already: it is sent back, unseen by the router, and on
 * again once the person agrees. To be called before the router listens: a window calls its listeners in their order.
 */
export function guardBack(): void {
  window.addEventListener('popstate', (event) => {
    const next = placeOf(event.state)
    if (!held || held.step === 'leaving' || next === undefined) return
    if (held.step === 'waiting' && location.pathname === held.pathname) return
    event.stopImmediatePropagation()
    if (held.step === 'returning') held.step = 'waiting'
    else askToLeave(held, next - held.here)
  })
}

function askToLeave(page: Held, steps: number): void {
  page.step = 'returning'
  history.go(-steps)
  void page.ask().then((isAgreed) => {
    if (!isAgreed || held !== page) return
    page.step = 'leaving'
    history.go(steps)
  })
}
