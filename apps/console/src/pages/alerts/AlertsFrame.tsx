import type { ReactNode } from 'react'
import { NavLink } from 'react-router'
import { Page } from '../../components/Page.tsx'
import { urls } from '../../util/urls.ts'
import './Alerts.css'

const PAGES = [
  { to: urls.alerts(), text: 'Open' },
  { to: urls.alertHistory(), text: 'History' },
  { to: urls.alertChannels(), text: 'Channels' },
  { to: urls.alertRules(), text: 'Rules' },
]

/** The frame of the four pages about alerts. */
export function AlertsFrame({
  title,
  actions,
  filters,
  children,
}: {
  title: string
  actions?: ReactNode
  /** Beside the names of the four pages. */
  filters?: ReactNode
  children: ReactNode
}) {
  return (
    <Page title={title}>
      <header className="head">
        <h1>Alerts</h1>
        <div className="acts">{actions}</div>
      </header>
      <div className="tools alerts-tools">
        <nav className="pills" aria-label="Alerts">
          {PAGES.map(({ to, text }) => (
            <NavLink key={to} to={to} end>
              {text}
            </NavLink>
          ))}
        </nav>
        {filters}
      </div>
      {children}
    </Page>
  )
}
