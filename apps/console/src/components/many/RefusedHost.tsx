import { lazy, Suspense, useSyncExternalStore } from 'react'
import { refusedStore } from './refused-store.ts'

const RefusedDialog = lazy(async () => ({ default: (await import('./RefusedDialog.tsx')).RefusedDialog }))

/** Once in the page. */
export function RefusedHost() {
  const shown = useSyncExternalStore(refusedStore.subscribe, refusedStore.get)
  return <Suspense>{shown && <RefusedDialog {...shown} onClose={() => refusedStore.show(null)} />}</Suspense>
}
