import { AlertDialog } from '@base-ui/react/alert-dialog'
import { CircleCheck, Info, TriangleAlert } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Button } from '../Button.tsx'
import { Checkbox } from '../input/Checkbox.tsx'
import { Field } from '../input/Field.tsx'
import { TextInput } from '../input/TextInput.tsx'
import type { ConfirmRequest } from './confirm.ts'
import './Dialog.css'
import './ConfirmDialog.css'

const TONES = { danger: 'bad', success: 'ok', info: 'info' } as const
const ICONS = { danger: TriangleAlert, success: CircleCheck, info: Info } as const

/** The first focus is on Cancel when accepting destroys something. */
export function ConfirmDialog({ request }: { request: ConfirmRequest }) {
  const {
    title,
    description,
    choice,
    variant = 'info',
    cancelButtonText = 'Cancel',
    acceptButtonText = 'Accept',
  } = request
  const Icon = request.icon ?? ICONS[variant]
  const cancel = useRef<HTMLButtonElement>(null)
  const accept = useRef<HTMLButtonElement>(null)
  const [running, setRunning] = useState<ConfirmRequest>()
  const [toggled, setToggled] = useState<ConfirmRequest>()
  const [password, setPassword] = useState('')
  const busy = running === request
  const isOff = choice?.isOff ?? false
  const isChosen = choice !== undefined && (toggled === request) === isOff
  const run = async () => {
    setRunning(request)
    request.answer(request.run ? await request.run(isChosen, password) : true)
  }
  useEffect(() => keepFocus, [])
  return (
    <AlertDialog.Root open onOpenChange={(open) => !open && !busy && request.answer(false)}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="scrim confirm-layer" />
        <AlertDialog.Viewport className="overlay confirm-layer">
          <AlertDialog.Popup
            className="dialog s confirm"
            initialFocus={variant === 'danger' ? cancel : accept}
          >
            <div className="dlg-body">
              <span className={`tile ${TONES[variant]}`}>
                <Icon className="ic" />
              </span>
              <div>
                <AlertDialog.Title className="confirm-title">{title}</AlertDialog.Title>
                {/* No paragraph: a choice may be part of it. */}
                <AlertDialog.Description render={<div />} className="said">
                  {description}
                </AlertDialog.Description>
                {request.asksPassword && (
                  <Field label="Your Password" required>
                    {(ids) => (
                      <TextInput
                        {...ids}
                        type="password"
                        autoComplete="current-password"
                        value={password}
                        disabled={busy}
                        onChange={({ target }) => setPassword(target.value)}
                        onKeyDown={({ key }) => key === 'Enter' && void run()}
                      />
                    )}
                  </Field>
                )}
                {choice && (
                  <Checkbox
                    label={choice.label}
                    text={choice.text}
                    checked={isChosen}
                    disabled={busy}
                    onCheckedChange={(checked) => setToggled(checked === isOff ? request : undefined)}
                  />
                )}
              </div>
            </div>
            <footer className="dlg-foot">
              <div className="acts">
                <Button ref={cancel} disabled={busy} onClick={() => request.answer(false)}>
                  {cancelButtonText}
                </Button>
                <Button
                  ref={accept}
                  variant={variant === 'info' ? 'primary' : variant}
                  busy={busy}
                  onClick={run}
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

/** The button that asked may have been deleted with its row; the keyboard then continues in the page, not at its top. */
function keepFocus(): void {
  requestAnimationFrame(() => {
    if (document.activeElement === document.body) document.querySelector<HTMLElement>('#main')?.focus()
  })
}
