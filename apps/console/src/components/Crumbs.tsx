import { createContext, useContext } from 'react'
import { createPortal } from 'react-dom'
import { Link } from 'react-router'

export interface Crumb {
  text: string
  /** Absent for the page itself. */
  to?: string
  mono?: boolean
}

/** The place in the top bar where a page puts its way. */
export const CrumbSlot = createContext<HTMLElement | null>(null)

export function Crumbs({ items }: { items: readonly Crumb[] }) {
  const slot = useContext(CrumbSlot)
  if (!slot) return null
  return createPortal(
    <nav className="crumbs" aria-label="Breadcrumb">
      <ol>
        {items.map(({ text, to, mono }) => (
          <li key={`${to} ${text}`} className={mono ? 'mono' : undefined}>
            {to ? <Link to={to}>{text}</Link> : <span aria-current="page">{text}</span>}
          </li>
        ))}
      </ol>
    </nav>,
    slot,
  )
}
