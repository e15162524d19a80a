import { CircleAlert, CircleCheck, Info, TriangleAlert, X } from 'lucide-react'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { ACTION_DURATION, TOAST_DURATION } from '../../util/constants.ts'
import { Button, IconButton, Spinner } from '../Button.tsx'
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
  /** The thing it is about. */
  subject?: string | undefined
  /** What can be done about it, which also closes it. */
  actions?: readonly ToastAction[] | undefined
  /** Goes on: it stays until it is ended. */
  isBusy?: boolean | undefined
}

export interface ToastAction {
  text: string
  run: () => void
}

/** More would not fit on the screen. */
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

function add(message: Omit<Message, 'id'>): number {
  const id = nextId++
  setMessages([{ id, ...message }, ...messages].slice(0, SHOWN))
  return id
}

const show = (kind: Message['kind']) => (text: string, subject?: string, actions?: readonly ToastAction[]) =>
  void add({ kind, text, subject, actions })

/** Something that takes a while, with how far it is. */
function showBusy(text: string, actions?: readonly ToastAction[]) {
  const id = add({ kind: 'info', text, actions, isBusy: true })
  return {
    update: (next: string) =>
      setMessages(messages.map((each) => (each.id === id ? { ...each, text: next } : each))),
    end: () => setMessages(messages.filter((each) => each.id !== id)),
  }
}

/** Short messages at the top right; errors interrupt a screen reader. */
export const toast = {
  success: show('success'),
  error: show('error'),
  info: show('info'),
  warning: show('warning'),
  busy: showBusy,
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

/** Closes after a while; the time restarts when the pointer or the focus leaves it. */
function Toast({ message }: { message: Message }) {
  const { id, kind, text, subject, actions = [], isBusy = false } = message
  const [isHeld, setHeld] = useState(false)
  const dismiss = () => setMessages(messages.filter((each) => each.id !== id))
  // biome-ignore lint/correctness/useExhaustiveDependencies: dismissing is the same for the toast's whole life
  useEffect(() => {
    if (isHeld || isBusy) return
    const timer = setTimeout(dismiss, actions.length > 0 ? ACTION_DURATION : TOAST_DURATION)
    return () => clearTimeout(timer)
  }, [isHeld, isBusy])
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
      {isBusy ? <Spinner /> : <Icon className="ic" />}
      <div className="said">
        <p>{text}</p>
        {subject && (
          <p className="sub">
            <bdi>{subject}</bdi>
          </p>
        )}
      </div>
      {actions.map((action) => (
        <Button
          key={action.text}
          size="sm"
          onClick={() => {
            dismiss()
            action.run()
          }}
        >
          {action.text}
        </Button>
      ))}
      {!isBusy && <IconButton label="Dismiss" icon={X} size="sm" onClick={dismiss} />}
    </div>
  )
}
