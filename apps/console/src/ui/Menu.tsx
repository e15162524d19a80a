import { Menu as Base } from '@base-ui/react/menu'
import { clsx } from 'clsx'
import { ChevronDown, Ellipsis, type LucideIcon } from 'lucide-react'
import { Button, IconButton } from './Button.tsx'
import './Menu.css'

export interface MenuItem {
  text: string
  icon: LucideIcon
  danger?: boolean
  disabled?: boolean
  /** A page outside of the console, in a new tab; else `onSelect`. */
  href?: string
  onSelect?: () => void
}

export interface MenuProps {
  /** Names the button and the menu. */
  label: string
  /** Groups are separated by a line; empty ones are left out. */
  groups: readonly (readonly MenuItem[])[]
  /** With a text the trigger is a button with that word, else an icon. */
  text?: string
  icon?: LucideIcon
  className?: string
  disabled?: boolean
}

export function Menu({ label, groups, text, icon = Ellipsis, className, disabled }: MenuProps) {
  const trigger = text ? (
    <Button className={className}>
      {text}
      <ChevronDown className="ic" />
    </Button>
  ) : (
    <IconButton label={label} icon={icon} className={className} />
  )
  const shown = groups.filter((group) => group.length > 0)
  return (
    <Base.Root>
      <Base.Trigger render={trigger} disabled={disabled ?? false} />
      <Base.Portal>
        <Base.Positioner className="floating" align="end" sideOffset={4}>
          <Base.Popup className="menu" aria-label={label}>
            {shown.map((group, index) => (
              <Group key={group[0]?.text} group={group} first={index === 0} />
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

function Group({ group, first }: { group: readonly MenuItem[]; first: boolean }) {
  return (
    <>
      {!first && <Base.Separator className="separator" />}
      {group.map((item) => (
        <Item key={item.text} item={item} />
      ))}
    </>
  )
}

function Item({ item }: { item: MenuItem }) {
  const { icon: Icon, text, href, danger, disabled = false } = item
  const className = clsx('item', danger && 'danger')
  const content = (
    <>
      <Icon className="ic" />
      {text}
    </>
  )
  if (href)
    return (
      <Base.LinkItem className={className} href={href} target="_blank" rel="noreferrer" closeOnClick>
        {content}
      </Base.LinkItem>
    )
  return (
    <Base.Item className={className} disabled={disabled} onClick={() => item.onSelect?.()}>
      {content}
    </Base.Item>
  )
}
