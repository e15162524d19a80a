import { lazy } from 'react'

const forms = {
  node: () => import('./NodeDialog.tsx'),
  service: () => import('./service/ServiceDialog.tsx'),
  domain: () => import('./DomainDialog.tsx'),
  token: () => import('./TokenDialog.tsx'),
  edge: () => import('./edges/EdgeDialog.tsx'),
  settings: () => import('./settings/SettingsDialog.tsx'),
}

/**
 * The forms, loaded when first opened. Each takes the record to edit (none: a new one) and `onClose`, which gets the
 * created record at the very end, after the dialog that shows it.
 */
export const NodeDialog = lazy(async () => ({ default: (await forms.node()).NodeDialog }))
export const ServiceDialog = lazy(async () => ({ default: (await forms.service()).ServiceDialog }))
export const DomainDialog = lazy(async () => ({ default: (await forms.domain()).DomainDialog }))
export const TokenDialog = lazy(async () => ({ default: (await forms.token()).TokenDialog }))
export const EdgeDialog = lazy(async () => ({ default: (await forms.edge()).EdgeDialog }))
export const SettingsDialog = lazy(async () => ({ default: (await forms.settings()).SettingsDialog }))

export const loadForms = () => Promise.all(Object.values(forms).map((load) => load()))
