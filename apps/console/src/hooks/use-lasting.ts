import { useEffect, useState } from 'react'

/** Whether something has been so for `ms` without a break. */
export function useLasting(is: boolean, ms: number): boolean {
  const [lasts, setLasts] = useState(false)
  useEffect(() => {
    if (!is) return
    const timer = setTimeout(() => setLasts(true), ms)
    return () => {
      clearTimeout(timer)
      setLasts(false)
    }
  }, [is, ms])
  return is && lasts
}
