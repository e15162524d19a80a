import { clsx } from 'clsx'
import { createContext, type ReactNode, useContext } from 'react'
import { createPortal } from 'react-dom'
import { Link } from 'react-router'
import './Page.css'

interface Props {
  /** The title of the tab: `<title> · Postern`. */
  title: string
  /** The breadcrumb; a list has none and shows the host instead. */
  crumbs?: readonly Crumb[]
  className?: string
  children: ReactNode
}

/** The frame of every page inside the shell. */
export function Page({ title, crumbs, className, children }: Props) {
  return (
    <main id="main" className={clsx('main', className)} tabIndex={-1}>
      <title>{`${title} · Postern`}</title>
      {crumbs && <Crumbs items={crumbs} />}
      {children}
    </main>
  )
}

export interface Crumb {
  text: string
  /** Absent for the page itself. */
  to?: string
  mono?: boolean
}

/** The place in the top bar for a page's breadcrumb. */
export const CrumbSlot = createContext<HTMLElement | null>(null)

function Crumbs({ items }: { items: readonly Crumb[] }) {
  const slot = useContext(CrumbSlot)
  if (!slot) return null
  return createPortal(
    <nav className="crumbs" aria-label="Breadcrumb">
      <ol>
        {items.map(({ text, to, mono }) => (
          <li key={`${to} ${text}`} className={mono ? 'mono' : undefined}>
            {to ? (
              <Link to={to} dir="auto">
                {text}
              </Link>
            ) : (
              <span aria-current="page" dir="auto">
                {text}
              </span>
            )}
          </li>
        ))}
      </ol>
    </nav>,
    slot,
  )
}
