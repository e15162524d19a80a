import { lazy } from 'react'
import { Optional } from './Optional.tsx'

const Toaster = lazy(async () => ({ default: (await import('./toaster.tsx')).Toaster }))

/** Once in the page. */
export function ToastHost() {
  return (
    <Optional name="The place of messages">
      <Toaster position="top-right" offset={12} mobileOffset={12} gap={8} visibleToasts={5} expand />
    </Optional>
  )
}
