import { InfoDialog } from '../../ui/overlay/Dialog.tsx'
import './RefusedDialog.css'
import type { Refusals } from './refused-store.ts'

/** More nobody reads; what they have in common shows in these. */
const SHOWN = 100

interface Props extends Refusals {
  onClose: () => void
}

/** Why some of many records were left as they are. */
export function RefusedDialog({ title, records, onClose }: Props) {
  const more = records.length - SHOWN
  return (
    <InfoDialog title={title} size="m" onClose={onClose}>
      <ul className="refused">
        {records.slice(0, SHOWN).map(({ id, name, message }) => (
          <li key={id}>
            {name !== null && <bdi>{name}</bdi>}
            <p>{message}</p>
          </li>
        ))}
        {more > 0 && <li>and {more} more</li>}
      </ul>
    </InfoDialog>
  )
}
