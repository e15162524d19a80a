import { Dialog as Base } from '@base-ui/react/dialog'
import { clsx } from 'clsx'
import { X } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import { Button, IconButton } from '../Button.tsx'
import { confirm, confirmStore } from './confirm.ts'
import './Dialog.css'

/** Where the focus starts in a dialog, and after its form is reloaded. */
const FIRST_FIELD = '.dlg-body :is(input, select, textarea):not(:disabled, [readonly])'
const FIRST_BUTTON = '.dlg-body .btn, .dlg-foot .btn'

/** A dialog starts with its first field, or else its first button, and not with its close button. */
function findFirst(popup: HTMLElement | null): HTMLElement | null | undefined {
  return popup?.querySelector<HTMLElement>(FIRST_FIELD) ?? popup?.querySelector<HTMLElement>(FIRST_BUTTON)
}

export interface DialogProps {
  title: string
  description?: ReactNode
  size?: 's' | 'm' | 'l'
  /** Something was typed: leaving asks first. */
  dirty?: boolean
  /** Its content is shown only once: only its own buttons close it, not Escape or a click outside. */
  oneTime?: boolean
  /** While something is being sent it stays. */
  busy?: boolean
  onClose: () => void
  children: ReactNode
}

/** A modal that is open while it is rendered. Children are `DialogBody` and `DialogFoot`. */
export function Dialog({
  title,
  description,
  size = 'm',
  dirty,
  oneTime,
  busy,
  onClose,
  children,
}: DialogProps) {
  const popup = useRef<HTMLDivElement>(null)
  const leave = async () => {
    if (!dirty || (await confirmDiscard())) onClose()
  }
  return (
    <Base.Root
      open
      onOpenChange={(_, details) => {
        details.cancel()
        const isOutside = details.reason === 'escape-key' || details.reason === 'outside-press'
        // A confirmation above this dialog is outside it too.
        if (busy || confirmStore.get() || (oneTime && isOutside)) return
        void leave()
      }}
    >
      <Base.Portal>
        <Base.Backdrop className="scrim" />
        <Base.Viewport className="overlay">
          <Base.Popup
            ref={popup}
            className={clsx('dialog', size)}
            initialFocus={(type) => (type !== 'touch' && findFirst(popup.current)) || true}
          >
            <header className="dlg-head">
              <div>
                <Base.Title>{title}</Base.Title>
                {description && <Base.Description>{description}</Base.Description>}
              </div>
              <Base.Close render={<IconButton label="Close" icon={X} />} />
            </header>
            {children}
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  )
}

interface BodyProps {
  children: ReactNode
  className?: string
  /** Without a focusable element it takes the focus itself, so that keys can scroll it. */
  isText?: boolean
}

export function DialogBody({ children, className, isText }: BodyProps) {
  return (
    <div className={clsx('dlg-body', className)} {...(isText && { tabIndex: 0 })}>
      {children}
    </div>
  )
}

/** The foot never scrolls; `note` is at its left. */
export function DialogFoot({ children, note }: { children: ReactNode; note?: ReactNode }) {
  return (
    <footer className="dlg-foot">
      {note}
      <div className="acts">{children}</div>
    </footer>
  )
}

/** Before something typed is thrown away. */
export function confirmDiscard(): Promise<boolean> {
  return confirm({
    title: 'Discard changes?',
    description: 'What you typed is not saved yet and will be lost.',
    variant: 'danger',
    cancelButtonText: 'Keep editing',
    acceptButtonText: 'Discard',
  })
}

export interface InfoDialogProps {
  title: string
  description?: ReactNode
  size?: 's' | 'm' | 'l'
  closeText?: string
  /** Its content is shown only once: Escape and a click outside do not close it. */
  oneTime?: boolean
  bodyClassName?: string
  onClose: () => void
  children: ReactNode
}

export function InfoDialog({ closeText = 'Got it!', bodyClassName, children, ...props }: InfoDialogProps) {
  return (
    <Dialog {...props}>
      <DialogBody className={bodyClassName ?? ''}>{children}</DialogBody>
      <DialogFoot>
        <Button variant="primary" onClick={props.onClose}>
          {closeText}
        </Button>
      </DialogFoot>
    </Dialog>
  )
}
