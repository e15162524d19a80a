import { lazy } from 'react'

const forms = {
  node: () => import('./NodeDialog.tsx'),
  service: () => import('./service/ServiceDialog.tsx'),
  domain: () => import('./DomainDialog.tsx'),
  token: () => import('./TokenDialog.tsx'),
}

/**
 * The forms, loaded when first opened. Each takes the record to edit (none: a new one) and `onClose`, which
 * gets the record that was made when all of it is over, also the dialog that shows it.
 */
export const NodeDialog = lazy(async () => ({ default: (await forms.node()).NodeDialog }))
export const ServiceDialog = lazy(async () => ({ default: (await forms.service()).ServiceDialog }))
export const DomainDialog = lazy(async () => ({ default: (await forms.domain()).DomainDialog }))
export const TokenDialog = lazy(async () => ({ default: (await forms.token()).TokenDialog }))

export const loadForms = () => Promise.all(Object.values(forms).map((load) => load()))
