import type { ToastKind } from './toaster.tsx'

/** The toaster is loaded with the first message that needs it or when the page is at rest. */
function show(kind: ToastKind, message: string): void {
  import('./toaster.tsx').then(
    ({ showToast }) => showToast(kind, message),
    (error: unknown) => console.error('A message could not be shown', message, error),
  )
}

/** Short messages at the top right; errors interrupt a screen reader. */
export const toast = {
  success: (message: string) => show('success', message),
  error: (message: string) => show('error', message),
  info: (message: string) => show('info', message),
  warning: (message: string) => show('warning', message),
}
