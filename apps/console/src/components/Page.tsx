import { clsx } from 'clsx'
import type { ReactNode } from 'react'
import { type Crumb, Crumbs } from './Crumbs.tsx'

interface Props {
  /** The title of the tab: `<title> · Postern`. */
  title: string
  /** The way to this page; a list has none and shows the host instead. */
  crumbs?: readonly Crumb[]
  className?: string
  children: ReactNode
}

/** What every page is inside the shell. */
export function Page({ title, crumbs, className, children }: Props) {
  return (
    <main id="main" className={clsx('main', className)} tabIndex={-1}>
      <title>{`${title} · Postern`}</title>
      {crumbs && <Crumbs items={crumbs} />}
      {children}
    </main>
  )
}
