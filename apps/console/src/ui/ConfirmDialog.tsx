import { AlertDialog } from '@base-ui/react/alert-dialog'
import { clsx } from 'clsx'
import { CircleCheck, Info, TriangleAlert } from 'lucide-react'
import { useRef } from 'react'
import { Button } from './Button.tsx'
import type { ConfirmRequest } from './confirm.ts'

const ICONS = { danger: TriangleAlert, success: CircleCheck, info: Info } as const

/** The dialog behind `confirm()`. The first focus is on Cancel when accepting destroys something. */
export function ConfirmDialog({ request }: { request: ConfirmRequest }) {
  const {
    title,
    description,
    variant = 'info',
    cancelButtonText = 'Cancel',
    acceptButtonText = 'Accept',
  } = request
  const Icon = request.icon ?? ICONS[variant]
  const cancel = useRef<HTMLButtonElement>(null)
  const accept = useRef<HTMLButtonElement>(null)
  return (
    <AlertDialog.Root open onOpenChange={(open) => !open && request.answer(false)}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="scrim confirm-layer" />
        <AlertDialog.Viewport className="overlay confirm-layer">
          <AlertDialog.Popup
            className={clsx('dialog s confirm', variant)}
            initialFocus={variant === 'danger' ? cancel : accept}
          >
            <div className="dlg-body">
              <span className="cic">
                <Icon className="ic" />
              </span>
              <div>
                <AlertDialog.Title className="confirm-title">{title}</AlertDialog.Title>
                <AlertDialog.Description>{description}</AlertDialog.Description>
              </div>
            </div>
            <footer className="dlg-foot">
              <div className="acts">
                <Button ref={cancel} onClick={() => request.answer(false)}>
                  {cancelButtonText}
                </Button>
                <Button
                  ref={accept}
                  variant={variant === 'info' ? 'primary' : variant}
                  onClick={() => request.answer(true)}
                >
                  {acceptButtonText}
                </Button>
              </div>
            </footer>
          </AlertDialog.Popup>
        </AlertDialog.Viewport>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}
