import { lazy, useSyncExternalStore } from 'react'
import { confirmStore } from './confirm.ts'
import { Optional } from './Optional.tsx'
import { toast } from './toast.ts'

const load = () => import('./ConfirmDialog.tsx')
const ConfirmDialog = lazy(async () => ({ default: (await load()).ConfirmDialog }))

/** Loads the dialog before the first question. */
export async function preloadConfirm(): Promise<void> {
  await load()
}

/** Once in the page, above everything else that floats. */
export function ConfirmHost() {
  const request = useSyncExternalStore(confirmStore.subscribe, confirmStore.get)
  if (!request) return null
  const refuse = () => {
    request.answer(false)
    toast.error('The question could not be shown, so nothing was done. Reload the page.')
  }
  return (
    <Optional name="The question" onError={refuse}>
      <ConfirmDialog request={request} />
    </Optional>
  )
}
