import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

export interface ConfirmOptions {
  title: string
  /** What will happen. */
  description: ReactNode
  variant?: 'danger' | 'success' | 'info'
  icon?: LucideIcon
  cancelButtonText?: string
  acceptButtonText?: string
}

export interface ConfirmRequest extends ConfirmOptions {
  answer: (accepted: boolean) => void
}

let current: ConfirmRequest | null = null
const listeners = new Set<() => void>()

export const confirmStore = {
  get: () => current,
  subscribe: (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}

function show(request: ConfirmRequest | null): void {
  current = request
  for (const listener of listeners) listener()
}

/** Asks in the one confirm dialog of the page; a second question answers the first with no. */
export function confirm(options: ConfirmOptions): Promise<boolean> {
  current?.answer(false)
  return new Promise((resolve) => {
    show({
      ...options,
      answer: (accepted) => {
        show(null)
        resolve(accepted)
      },
    })
  })
}
