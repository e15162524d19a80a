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
  /** A box below the description, ticked at first unless it is `isOff`. */
  choice?: { label: string; text: string; isOff?: boolean }
  /** A field for the account's password. */
  asksPassword?: boolean
  /**
   * Runs on accept: the dialog stays, busy, until it resolves with whether it was done. Never rejects.
   * @param isChosen whether the checkbox is ticked, if there is one
   * @param password what was typed into its field, if there is one
   */
  run?: (isChosen: boolean, password: string) => Promise<boolean>
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

/**
 * Asks in the page's confirm dialog; a second call cancels the first. Resolves to true when the person accepted and
 * `run`, if given, succeeded.
 */
export function confirm(options: ConfirmOptions): Promise<boolean> {
  current?.answer(false)
  return new Promise((resolve) => {
    const request: ConfirmRequest = {
      ...options,
      answer: (accepted) => {
        if (current === request) show(null)
        resolve(accepted)
      },
    }
    show(request)
  })
}
