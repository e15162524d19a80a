import { clsx } from 'clsx'
import type { LucideIcon } from 'lucide-react'
import { NavLink } from 'react-router'
import { useTooltip } from '../ui/overlay/Tooltip.tsx'

interface Props {
  label: string
  icon: LucideIcon
  to: string
  className?: string
}

/** A page of the console, as an icon. */
export function RouteIcon({ label, icon: Icon, to, className }: Props) {
  const { events, popup } = useTooltip(label, true)
  return (
    <>
      <NavLink {...events} className={clsx('btn ghost icon', className)} to={to} aria-label={label}>
        <Icon className="ic" />
      </NavLink>
      {popup}
    </>
  )
}
