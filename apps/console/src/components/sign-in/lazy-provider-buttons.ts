import { lazy } from 'react'

/** Most installations have no provider, and their pages load nothing for one. */
export const ProviderButtons = lazy(async () => ({
  default: (await import('./ProviderButtons.tsx')).ProviderButtons,
}))
