import { useEffect, useLayoutEffect, useState } from 'react'
import { useLocation, useNavigationType } from 'react-router'
import { keepScrollPlaces, readScrollPlaces } from '../../stores/scroll-places.ts'

/**
 * Back and a reload show a page where it was left, and a link shows the next one from its top. A change of the address
 * in place, as while one types in a search, moves nothing.
 */
export function useScroll(): void {
  const { key, hash } = useLocation()
  const type = useNavigationType()
  const [places] = useState(() => readScrollPlaces())
  useLayoutEffect(() => {
    if (type === 'POP') window.scrollTo(0, places.get(key) ?? 0)
    else if (type === 'PUSH' && hash === '') window.scrollTo(0, 0)
    const note = () => void places.set(key, window.scrollY)
    window.addEventListener('scroll', note, { passive: true })
    return () => window.removeEventListener('scroll', note)
  }, [key, hash, type, places])
  useEffect(() => {
    history.scrollRestoration = 'manual'
    const keep = () => keepScrollPlaces(places)
    window.addEventListener('pagehide', keep)
    return () => window.removeEventListener('pagehide', keep)
  }, [places])
}
