import { RotateCw } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Banner } from './Banner.tsx'
import { Button } from './Button.tsx'
import { CopyButton } from './CopyButton.tsx'

/** Where a dialog starts, and where one goes on when its form was loaded again. */
export const FIRST_FIELD = '.dlg-body :is(input, select, textarea):not(:disabled, [readonly])'

/** Why a form was not saved, when no field of the screen shows it. */
export interface SubmitError {
  message: string
  /** 0 when no answer came. */
  status: number
  requestId?: string | undefined
  /** The record has changed meanwhile: this puts the newest one into the form. */
  reload?: () => Promise<void>
}

/** The reason, brought into view. */
export function SubmitBanner({ error }: { error: SubmitError }) {
  const ref = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new error is brought into view
  useEffect(() => {
    ref.current?.scrollIntoView({ block: 'nearest' })
  }, [error])
  return (
    <div ref={ref}>
      <Banner kind="bad" role="alert" action={<SubmitAction error={error} />}>
        <p>
          <b>Not saved. </b>
          {error.message}
        </p>
        {error.requestId && (
          <p className="fine">
            Status {error.status}, request <span className="mono">{error.requestId}</span>
          </p>
        )}
      </Banner>
    </div>
  )
}

function SubmitAction({ error: { requestId, reload } }: { error: SubmitError }) {
  const [busy, setBusy] = useState(false)
  if (reload)
    return (
      <Button
        size="sm"
        icon={RotateCw}
        busy={busy}
        onClick={async (event) => {
          const form = event.currentTarget.form
          setBusy(true)
          await reload()
          setBusy(false)
          // The button is gone; the person goes on where the form begins.
          form?.querySelector<HTMLElement>(FIRST_FIELD)?.focus()
        }}
      >
        Reload
      </Button>
    )
  return requestId && <CopyButton iconOnly size="sm" label="Copy request id" value={requestId} />
}
