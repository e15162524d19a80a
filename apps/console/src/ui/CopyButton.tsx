import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { COPIED_DURATION } from '../util/constants.ts'
import { Button, IconButton } from './Button.tsx'
import { copyText } from './copy.ts'
import './input/TextInput.css'
import './CopyButton.css'

export interface CopyButtonProps {
  value: string
  /** What is copied: `Copy token`. With a text button this is its name for screen readers. */
  label: string
  iconOnly?: boolean
  size?: 'md' | 'sm'
  /** The word on the button. */
  text?: string
  variant?: 'default' | 'ghost'
}

/** The icon is a tick for two seconds; a copy that failed says so. */
export function CopyButton({
  value,
  label,
  iconOnly,
  size = 'md',
  text = 'Copy',
  variant = 'default',
}: CopyButtonProps) {
  const [copied, setCopied] = useState(0)
  useEffect(() => {
    if (copied === 0) return
    const timer = setTimeout(() => setCopied(0), COPIED_DURATION)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = async () => {
    const isCopied = await copyText(value)
    setCopied((count) => (isCopied ? count + 1 : 0))
  }
  const icon = copied > 0 ? Check : Copy
  return (
    <>
      {iconOnly ? (
        <IconButton label={label} icon={icon} size={size} onClick={copy} />
      ) : (
        <Button icon={icon} size={size} variant={variant} aria-label={label} onClick={copy}>
          {text}
        </Button>
      )}
      <span className="sr" role="status">
        {copied > 0 ? 'Copied' : ''}
      </span>
    </>
  )
}

interface CopyFieldProps {
  label: string
  value: string
  /** On one line that scrolls sideways: a command, which no line may break. */
  oneLine?: boolean
}

/** A value to copy: read-only, on as many lines as it needs, with a copy button. */
export function CopyField({ label, value, oneLine = false }: CopyFieldProps) {
  return (
    <div className="secret">
      <textarea
        className={oneLine ? 'input mono one-line' : 'input mono'}
        readOnly
        rows={1}
        wrap={oneLine ? 'off' : 'soft'}
        spellCheck={false}
        aria-label={label}
        value={value}
        onFocus={(event) => event.target.select()}
      />
      <CopyButton value={value} label={`Copy ${label.toLowerCase()}`} />
    </div>
  )
}
