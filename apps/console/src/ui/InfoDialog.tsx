import type { ReactNode } from 'react'
import { Button } from './Button.tsx'
import { Dialog, DialogBody, DialogFoot } from './Dialog.tsx'

export interface InfoDialogProps {
  title: string
  description?: ReactNode
  size?: 's' | 'm' | 'l'
  closeText?: string
  /** What it shows is shown once: Escape and a click outside do not close it. */
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
