/**
 * Runs once no button is pressed any more. Leaving a field by a click would otherwise show its error, and so
 * move the page, between the press and the release: the click would miss what it was meant for.
 * It does not run when the click took the field away: its value must not come back with it.
 */
export function whenReleased(field: Element, run: () => void): void {
  if (document.querySelector(':active') === null) {
    run()
    return
  }
  const end = new AbortController()
  const finish = () => {
    end.abort()
    // The click itself comes right after the release.
    setTimeout(() => {
      if (field.isConnected) run()
    })
  }
  window.addEventListener('pointerup', finish, { signal: end.signal })
  window.addEventListener('pointercancel', finish, { signal: end.signal })
}
