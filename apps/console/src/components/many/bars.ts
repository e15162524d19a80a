import { lazy } from 'react'

/** What can be done with ticked rows, loaded when the first one is ticked. */
export const ServicesBar = lazy(async () => ({ default: (await import('./ServicesBar.tsx')).ServicesBar }))
export const NodesBar = lazy(async () => ({ default: (await import('./NodesBar.tsx')).NodesBar }))
export const DomainsBar = lazy(async () => ({ default: (await import('./DomainsBar.tsx')).DomainsBar }))
export const TokensBar = lazy(async () => ({ default: (await import('./TokensBar.tsx')).TokensBar }))
