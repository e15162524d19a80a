import { ChevronDown, Ellipsis, type LucideIcon } from 'lucide-react'
import { type ComponentProps, type MouseEvent, memo, useCallback, useState } from 'react'
import { Button, IconButton } from '../Button.tsx'
import { useLoaded } from '../use-loaded.ts'
import type { MenuGroups } from './OpenMenu.tsx'
import './Menu.css'

export interface MenuProps {
  /** Names the button and the menu. */
  label: string
  /** Separated by a line; empty ones are left out, and so is the menu without any item. */
  groups: MenuGroups
  /** With a text the trigger is a button with that text, else an icon. */
  text?: string
  icon?: LucideIcon
  className?: string
  disabled?: boolean
}

export const loadMenus = () => import('./OpenMenu.tsx')

/** A button until it is first used: most menus of a page never open. */
export function Menu(props: MenuProps) {
  const [usedBy, setUsedBy] = useState<'pointer' | 'keyboard' | null>(null)
  const menus = useLoaded(loadMenus, usedBy !== null, () => setUsedBy(null))
  const { groups, ...look } = props
  const use = useCallback(({ detail }: MouseEvent) => setUsedBy(detail === 0 ? 'keyboard' : 'pointer'), [])
  if (!groups.flat().some(Boolean)) return null
  if (usedBy && menus) {
    const trigger = <MenuButton {...look} />
    return <menus.OpenMenu usedBy={usedBy} label={look.label} groups={groups} trigger={trigger} />
  }
  return <ClosedMenu {...look} aria-haspopup="menu" aria-expanded={false} onClick={use} />
}

type MenuButtonProps = Omit<MenuProps, 'groups'> & Omit<ComponentProps<'button'>, 'children'>

function MenuButton({ label, text, icon = Ellipsis, ...rest }: MenuButtonProps) {
  // The rows' buttons are below each other, and a tooltip above one would cover the next.
  if (!text) {
    return <IconButton label={label} icon={icon} tipSide={icon === Ellipsis ? 'left' : 'top'} {...rest} />
  }
  return (
    <Button {...rest}>
      {text}
      <ChevronDown className="ic" />
    </Button>
  )
}

/** The items may be recomputed each second without rendering the button again. */
const ClosedMenu = memo(MenuButton)
