import { useSyncExternalStore } from 'react'

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
export function usePreference(key: string, fallback: string): [string, (value: string) => void] {
  const value = useSyncExternalStore(subscribe, () => localStorage.getItem(key) ?? fallback)
  const setValue = (next: string) => {
    localStorage.setItem(key, next)
    for (const listener of listeners) listener()
  }
  return [value, setValue]
}
