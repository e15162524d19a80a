import { CircleAlert, CircleCheck, Info, TriangleAlert, X } from 'lucide-react'
import { toast as sonner } from 'sonner'
import { TOAST_DURATION } from '../util/constants.ts'
import { IconButton } from './Button.tsx'
import './toaster.css'

export { Toaster } from 'sonner'

const LOOKS = {
  success: { icon: CircleCheck, className: 'ok' },
  error: { icon: CircleAlert, className: 'bad' },
  info: { icon: Info, className: 'info' },
  warning: { icon: TriangleAlert, className: 'warn' },
} as const
export type ToastKind = keyof typeof LOOKS

export function showToast(kind: ToastKind, message: string): void {
  const { icon: Icon, className } = LOOKS[kind]
  sonner.custom(
    (id) => (
      <div className={`toast ${className}`} role={kind === 'error' ? 'alert' : 'status'}>
        <Icon className="ic" />
        <p>{message}</p>
        <IconButton label="Dismiss" icon={X} size="sm" onClick={() => sonner.dismiss(id)} />
      </div>
    ),
    { duration: TOAST_DURATION },
  )
}
