import { useEffect } from 'react'
import { preloadForms } from '../forms/dialogs.ts'
import { preloadConfirm } from '../ui/ConfirmHost.tsx'
import { PRELOAD_DELAY } from '../util/constants.ts'

/** Loads what is likely to be opened next, once the page is at rest. */
export function usePreload(): void {
  useEffect(() => {
    const timer = setTimeout(() => {
      Promise.all([preloadForms(), preloadConfirm()]).catch((error: unknown) =>
        console.warn('The dialogs could not be loaded yet', error),
      )
    }, PRELOAD_DELAY)
    return () => clearTimeout(timer)
  }, [])
}
