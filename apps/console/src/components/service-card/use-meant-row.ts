import type { Service } from '@postern/contract/services/services'
import { type RefObject, useEffect, useRef } from 'react'
import { useLocation } from 'react-router'
import { serviceRowHash } from '../../util/urls.ts'

/** Brings the row that the page's address means into view. @returns for what opens the row, which gets the focus */
export function useMeantRow({ id }: Pick<Service, 'id'>): RefObject<HTMLAnchorElement | null> {
  const opener = useRef<HTMLAnchorElement>(null)
  const { hash, key } = useLocation()
  const isMeant = hash === serviceRowHash(id)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same address again goes there again
  useEffect(() => {
    if (!isMeant) return
    opener.current?.focus({ preventScroll: true })
    opener.current?.closest('tr')?.scrollIntoView({ block: 'center' })
  }, [isMeant, key])
  return opener
}
