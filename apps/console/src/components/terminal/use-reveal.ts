import { useEffect, useState } from 'react'

/** How many of `count` entries show: one at once and one more each `everyMs`; all when motion is not wanted. */
export function useReveal(count: number, everyMs: number): number {
  const [isStill] = useState(() => matchMedia('(prefers-reduced-motion: reduce)').matches)
  const [shown, setShown] = useState(isStill ? count : 1)
  useEffect(() => {
    if (shown >= count) return
    const timer = setTimeout(() => setShown(shown + 1), everyMs)
    return () => clearTimeout(timer)
  }, [shown, count, everyMs])
  return Math.min(shown, count)
}
