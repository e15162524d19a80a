import { useEffect, useState } from 'react'

/**
 * A part of the page that is loaded when it is first wanted; null until then. Without the server it cannot load: the
 * page stays as it is, and `onFailure` must reset the wish.
 */
export function useLoaded<T>(load: () => Promise<T>, wanted: boolean, onFailure: () => void): T | null {
  const [loaded, setLoaded] = useState<{ part: T } | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the wish starts it
  useEffect(() => {
    if (!wanted || loaded) return
    let isHere = true
    load().then(
      (part) => isHere && setLoaded({ part }),
      (error: unknown) => {
        console.warn('A part of the page could not be loaded', error)
        if (isHere) onFailure()
      },
    )
    return () => {
      isHere = false
    }
  }, [wanted])
  return loaded?.part ?? null
}
