import type { HttpService } from '@postern/contract/services'
import { Power, Trash2 } from 'lucide-react'
import type { ConfirmOptions } from '../../ui/confirm.ts'

/** What is asked before a service changes, and what will happen. */
export function confirmEnable({ name }: HttpService): ConfirmOptions {
  return {
    title: 'Enable access',
    description: (
      <>
        <b>{name}</b> becomes reachable from the internet at its public address again.
      </>
    ),
    variant: 'success',
    icon: Power,
    acceptButtonText: 'Yes, enable it!',
  }
}

export function confirmDisable({ name }: HttpService): ConfirmOptions {
  return {
    title: 'Disable access',
    description: (
      <>
        Visitors of <b>{name}</b> see a page that says it is not available, and open connections end. Its
        settings are kept.
      </>
    ),
    icon: Power,
    acceptButtonText: 'Yes, disable it!',
  }
}

export function confirmDelete({ name, publicAccess }: HttpService): ConfirmOptions {
  return {
    title: 'Delete service',
    description: (
      <>
        <b>{name}</b> is removed for good.
        {publicAccess && (
          <>
            {' '}
            Nothing answers at <span className="mono">{publicAccess}</span> any more.
          </>
        )}
      </>
    ),
    variant: 'danger',
    icon: Trash2,
    acceptButtonText: 'Yes, delete it!',
  }
}
