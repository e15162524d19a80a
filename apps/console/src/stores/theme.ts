import { useEffect } from 'react'
import { usePreference } from './preference.ts'

const SCHEMES = ['auto', 'light', 'dark'] as const
type Scheme = (typeof SCHEMES)[number]

export const parseScheme = (text: string): Scheme => SCHEMES.find((scheme) => scheme === text) ?? 'auto'

/** The next of the three, in the order system, light, dark. */
export function nextScheme(scheme: Scheme): Scheme {
  return SCHEMES[(SCHEMES.indexOf(scheme) + 1) % SCHEMES.length] ?? 'auto'
}

/** The chosen colour scheme and how to choose another; `auto` follows the system. */
export function useScheme(): [Scheme, (scheme: Scheme) => void] {
  const [text, setText] = usePreference('color-scheme', 'auto')
  const scheme = parseScheme(text)
  useEffect(() => {
    const root = document.documentElement
    if (scheme === 'auto') delete root.dataset.theme
    else root.dataset.theme = scheme
  }, [scheme])
  return [scheme, setText]
}
