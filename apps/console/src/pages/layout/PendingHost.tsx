import { useState } from 'react'
import { useLoaded } from '../../ui/use-loaded.ts'

/** What is taken back unless it is kept, once the page has its first data. */
export function PendingHost({ isWanted }: { isWanted: boolean }) {
  const [hasFailed, setFailed] = useState(false)
  const part = useLoaded(
    () => import('./PendingChanges.tsx'),
    isWanted && !hasFailed,
    () => setFailed(true),
  )
  return part && <part.PendingChanges />
}
