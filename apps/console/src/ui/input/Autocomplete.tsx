import { Autocomplete as Base } from '@base-ui/react/autocomplete'
import { ChevronDown, type LucideIcon } from 'lucide-react'
import { type ComponentProps, useEffect, useRef, useState } from 'react'
import { AUTOCOMPLETE_CLOSE_DELAY } from '../../util/constants.ts'
import './TextInput.css'
import '../overlay/Menu.css'
import './Autocomplete.css'

export interface AutocompleteProps extends Omit<ComponentProps<'input'>, 'value' | 'onChange'> {
  value: string
  onValueChange: (value: string) => void
  /** Suggestions for the value, in their order; any other text is a value too. */
  options: readonly string[]
  /** Instead of suggestions. */
  emptyText: string | false
  icon?: LucideIcon
}

/** A text with suggestions; the list closes a moment after the field loses focus. */
export function Autocomplete(props: AutocompleteProps) {
  const { value, onValueChange, options, emptyText, icon: Icon, ...rest } = props
  const [open, setOpen] = useState(false)
  const timer = useRef<number>(undefined)
  useEffect(() => () => window.clearTimeout(timer.current), [])
  const changeOpen = (next: boolean, details: { reason: string }) => {
    window.clearTimeout(timer.current)
    if (next || details.reason !== 'focus-out') setOpen(next)
    else timer.current = window.setTimeout(() => setOpen(false), AUTOCOMPLETE_CLOSE_DELAY)
  }
  return (
    <Base.Root
      items={options}
      filter={null}
      value={value}
      onValueChange={onValueChange}
      open={open}
      onOpenChange={changeOpen}
      openOnInputClick
    >
      <Base.InputGroup className="affix" data-disabled={rest.disabled || undefined}>
        {Icon && (
          <span className="pre">
            <Icon className="ic" />
          </span>
        )}
        <Base.Input className="input" spellCheck={false} autoComplete="off" {...rest} />
        <Base.Trigger className="post" aria-label="Show suggestions" tabIndex={-1} disabled={rest.disabled}>
          <ChevronDown className="ic" />
        </Base.Trigger>
      </Base.InputGroup>
      <Base.Portal>
        <Base.Positioner className="floating" sideOffset={4}>
          <Base.Popup className="menu options">
            <Base.Empty className="none">{emptyText}</Base.Empty>
            <Base.List>
              {(option: string) => (
                <Base.Item key={option} value={option} className="item mono">
                  {option}
                </Base.Item>
              )}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
