import { useSyncExternalStore } from 'react'
import { useLoaded } from '../use-loaded.ts'
import { confirmStore } from './confirm.ts'

export const loadConfirm = () => import('./ConfirmDialog.tsx')

/** The dialog behind `confirm()`, above all other overlays. */
export function ConfirmHost() {
  const request = useSyncExternalStore(confirmStore.subscribe, confirmStore.get)
  const loaded = useLoaded(loadConfirm, request !== null, () => request?.answer(false))
  return request && loaded && <loaded.ConfirmDialog request={request} />
}
