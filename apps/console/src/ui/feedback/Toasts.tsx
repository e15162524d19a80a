import { CircleAlert, CircleCheck, Info, TriangleAlert, X } from 'lucide-react'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { TOAST_DURATION } from '../../util/constants.ts'
import { IconButton } from '../Button.tsx'
import './Toasts.css'

const LOOKS = {
  success: { icon: CircleCheck, className: 'ok' },
  error: { icon: CircleAlert, className: 'bad' },
  info: { icon: Info, className: 'info' },
  warning: { icon: TriangleAlert, className: 'warn' },
} as const

interface Message {
  id: number
  kind: keyof typeof LOOKS
  text: string
  /** What it was done to. */
  subject?: string | undefined
}

/** More than a screen holds would only hide each other. */
const SHOWN = 3
let nextId = 0
let messages: readonly Message[] = []
const listeners = new Set<() => void>()

function setMessages(next: readonly Message[]): void {
  messages = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

const show = (kind: Message['kind']) => (text: string, subject?: string) =>
  setMessages([{ id: nextId++, kind, text, subject }, ...messages].slice(0, SHOWN))

/** Short messages at the top right; errors interrupt a screen reader. */
export const toast = {
  success: show('success'),
  error: show('error'),
  info: show('info'),
  warning: show('warning'),
}

/** Once in the page. */
export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => messages)
  return (
    <section className="toasts" aria-label="Notifications" aria-live="polite">
      {shown.map((message) => (
        <Toast key={message.id} message={message} />
      ))}
    </section>
  )
}

/** Closes after a while, counted again when the pointer or the focus leaves it. */
function Toast({ message: { id, kind, text, subject } }: { message: Message }) {
  const [isHeld, setHeld] = useState(false)
  const dismiss = () => setMessages(messages.filter((each) => each.id !== id))
  // biome-ignore lint/correctness/useExhaustiveDependencies: dismissing is the same for the toast's whole life
  useEffect(() => {
    if (isHeld) return
    const timer = setTimeout(dismiss, TOAST_DURATION)
    return () => clearTimeout(timer)
  }, [isHeld])
  const { icon: Icon, className } = LOOKS[kind]
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering only holds the message for the reader
    <div
      className={`toast ${className}`}
      role={kind === 'error' ? 'alert' : 'status'}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <Icon className="ic" />
      <div className="said">
        <p>{text}</p>
        {subject && (
          <p className="sub">
            <bdi>{subject}</bdi>
          </p>
        )}
      </div>
      <IconButton label="Dismiss" icon={X} size="sm" onClick={dismiss} />
    </div>
  )
}
