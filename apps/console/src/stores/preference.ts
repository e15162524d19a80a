import type { FiguresSpan } from '@postern/contract/figures'
import { useEffect, useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  window.addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    window.removeEventListener('storage', listener)
  }
}

/** A choice of the person that this browser remembers, shared by all tabs; `fallback` until one is made. */
function usePreference(key: string, fallback: string): [string, (value: string) => void] {
  const value = useSyncExternalStore(subscribe, () => localStorage.getItem(key) ?? fallback)
  const setValue = (next: string) => {
    localStorage.setItem(key, next)
    for (const listener of listeners) listener()
  }
  return [value, setValue]
}

/** Whether the sidebar shows words beside its icons. */
export function useSidebarExpanded(): [boolean, (expanded: boolean) => void] {
  const [text, setText] = usePreference('sidebar-expanded', 'true')
  return [text !== 'false', (expanded) => setText(String(expanded))]
}

/** Whether a person has dismissed the banner about this private public host. */
export function useKnownHost(host: string): [boolean, () => void] {
  const [known, setKnown] = usePreference('known-private-host', '')
  return [known === host, () => setKnown(host)]
}

export interface ChartChoice {
  metric: string
  span: FiguresSpan
  isTable: boolean
}

/** What of charts a person looks at. */
export function useChartChoice(): [ChartChoice, (choice: ChartChoice) => void] {
  const [text, setText] = usePreference('chart', '')
  const write = ({ metric, span, isTable }: ChartChoice) =>
    setText([metric, span, isTable ? 'table' : 'lines'].join(' '))
  return [parseChartChoice(text), write]
}

export function parseChartChoice(text: string): ChartChoice {
  const [metric = '', span, look] = text.split(' ')
  return { metric, span: SPANS.find((each) => each === span) ?? 'day', isTable: look === 'table' }
}

const SPANS: readonly FiguresSpan[] = ['hour', 'day', 'week', 'month']

const SCHEMES = ['auto', 'light', 'dark'] as const
type Scheme = (typeof SCHEMES)[number]

export const parseScheme = (text: string): Scheme => SCHEMES.find((scheme) => scheme === text) ?? 'auto'

/** The next of the three, in the order system, light, dark. */
export function nextScheme(scheme: Scheme): Scheme {
  return SCHEMES[(SCHEMES.indexOf(scheme) + 1) % SCHEMES.length] ?? 'auto'
}

/** The chosen colour scheme and a function to change it; `auto` follows the system. */
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
