import { useEffect, useState } from 'react'
import { useLoaded } from '../../ui/use-loaded.ts'
import { PRELOAD_DELAY } from '../../util/constants.ts'

/** What is taken back unless it is kept, once the page has been drawn and has its first data. */
export function PendingHost({ isLive }: { isLive: boolean }) {
  const [isWanted, setWanted] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setWanted(true), PRELOAD_DELAY)
    return () => clearTimeout(timer)
  }, [])
  const part = useLoaded(
    () => import('../../components/history/PendingChanges.tsx'),
    isWanted && isLive,
    () => setWanted(false),
  )
  return part && <part.PendingChanges />
}
