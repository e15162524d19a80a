/** A hidden page loads nothing and leaves its connections to other tabs: over plain HTTP there are six for all. */
function isVisible(): boolean {
  return document.visibilityState === 'visible'
}

/** Settles once the page is visible, or `end` is aborted. */
export function whenVisible(end: AbortSignal): Promise<void> {
  if (isVisible() || end.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const stop = new AbortController()
    const done = () => {
      stop.abort()
      resolve()
    }
    const options = { signal: stop.signal }
    document.addEventListener('visibilitychange', () => isVisible() && done(), options)
    end.addEventListener('abort', done, options)
  })
}

/** Runs something while the page is visible; its signal aborts when it is hidden, or with `end`. */
export async function whileVisible(
  end: AbortSignal,
  run: (signal: AbortSignal) => Promise<void>,
): Promise<boolean> {
  const hidden = new AbortController()
  const stop = new AbortController()
  document.addEventListener('visibilitychange', () => isVisible() || hidden.abort(), { signal: stop.signal })
  try {
    await run(AbortSignal.any([end, hidden.signal]))
  } catch (error) {
    if (!hidden.signal.aborted) throw error
  } finally {
    stop.abort()
  }
  return !hidden.signal.aborted
}
