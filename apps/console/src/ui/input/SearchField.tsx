import { Search, X } from 'lucide-react'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { SEARCH_DELAY } from '../../util/constants.ts'
import { IconButton } from '../Button.tsx'
import './TextInput.css'
import './SearchField.css'

export interface SearchFieldProps {
  label: string
  placeholder: string
  value: string
  /** Called when typing pauses, and at once on Enter. */
  onSearch: (text: string) => void
}

export function SearchField({ label, placeholder, value, onSearch }: SearchFieldProps) {
  const [text, setText] = useState(value)
  const sent = useRef(value)
  const field = useRef<HTMLInputElement>(null)
  const send = useEffectEvent((next: string) => {
    if (next === sent.current) return
    sent.current = next
    onSearch(next)
  })
  useEffect(() => {
    const timer = setTimeout(() => send(text.trim()), SEARCH_DELAY)
    return () => clearTimeout(timer)
  }, [text])
  useEffect(() => {
    // Changed from outside, by Clear search or the browser's Back.
    if (value === sent.current) return
    sent.current = value
    setText(value)
  }, [value])
  return (
    <search>
      <form
        className="searchf"
        onSubmit={(event) => {
          event.preventDefault()
          const next = text.trim()
          if (next === sent.current) return
          sent.current = next
          onSearch(next)
        }}
      >
        <Search className="ic" />
        <input
          ref={field}
          className="input"
          aria-keyshortcuts="/"
          type="search"
          aria-label={label}
          placeholder={placeholder}
          value={text}
          maxLength={253}
          onChange={(event) => setText(event.target.value)}
        />
        {text === '' ? (
          <kbd>/</kbd>
        ) : (
          <IconButton
            size="sm"
            label="Clear text"
            icon={X}
            onClick={() => {
              setText('')
              send('')
              field.current?.focus()
            }}
          />
        )}
      </form>
    </search>
  )
}
