import { Menu as Base } from '@base-ui/react/menu'
import { clsx } from 'clsx'
import type { LucideIcon } from 'lucide-react'
import { type ReactElement, useEffect, useRef } from 'react'

export interface MenuItem {
  text: string
  icon: LucideIcon
  danger?: boolean
  disabled?: boolean
  /** A page outside of the console, in a new tab; else `onSelect`. */
  href?: string
  onSelect?: () => void
}

/** Items that are not allowed are false, and left out. */
export type MenuGroups = readonly (readonly (MenuItem | false)[])[]

interface OpenMenuProps {
  label: string
  groups: MenuGroups
  trigger: ReactElement
  /** Opened by keyboard, it focuses its first item. */
  usedBy: 'pointer' | 'keyboard'
}

/** A menu that is open as soon as it is rendered. */
export function OpenMenu({ label, groups, trigger, usedBy }: OpenMenuProps) {
  const shown = groups
    .map((group) => group.filter((item) => item !== false))
    .filter((group) => group.length > 0)
  const button = useRef<HTMLButtonElement>(null)
  // The button was rendered again, and gets the focus back.
  useEffect(() => {
    button.current?.focus()
    if (usedBy === 'keyboard') button.current?.click()
  }, [usedBy])
  return (
    <Base.Root defaultOpen={usedBy === 'pointer'}>
      <Base.Trigger ref={button} render={trigger} />
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
