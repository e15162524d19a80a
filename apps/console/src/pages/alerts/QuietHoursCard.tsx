import { alerts as endpoints } from '@postern/contract/endpoints/alerts'
import { Suspense, useState } from 'react'
import { useAnswer } from '../../api/queries.ts'
import { Button } from '../../ui/Button.tsx'
import { QuietHoursDialog } from './dialogs.ts'

/** When alerts wait. */
export function QuietHoursCard({ canEdit }: { canEdit: boolean }) {
  const [isEditing, setEditing] = useState(false)
  const hours = useAnswer(endpoints.getQuietHours, {}).data
  if (!hours) return null
  const { enabled, from, to, timeZone } = hours
  return (
    <section className="panel quiet-hours" aria-labelledby="quiet-hours">
      <div>
        <h2 id="quiet-hours">Quiet Hours</h2>
        <p className="lead">
          {enabled
            ? `From ${from} to ${to} (${timeZone}) alerts wait. A lost edge and a sign-in from a new network do not.`
            : 'Off: alerts are sent at any time of day.'}
        </p>
      </div>
      {canEdit && <Button onClick={() => setEditing(true)}>Edit</Button>}
      <Suspense>{isEditing && <QuietHoursDialog hours={hours} onClose={() => setEditing(false)} />}</Suspense>
    </section>
  )
}
