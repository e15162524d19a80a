import { InfoDialog } from '../../ui/overlay/Dialog.tsx'
import { MODIFIER } from '../../util/browser.ts'
import './Palette.css'

const SHORTCUTS = [
  { keys: [MODIFIER, 'K'], does: 'Search for anything and run commands' },
  { keys: ['/'], does: 'Search this page' },
  { keys: ['?'], does: 'Show these shortcuts' },
  { keys: ['\u2191', '\u2193'], does: 'Go from row to row' },
  { keys: ['\u2190', '\u2192'], does: 'Go to the links and the menu of a row' },
  { keys: ['Enter'], does: 'Open a row' },
  { keys: ['Space'], does: 'Select a row' },
  { keys: ['Shift', 'Space'], does: 'Select all rows up to this one' },
  { keys: ['Esc'], does: 'Close what is open, or clear the selection' },
] as const

/** The keyboard shortcuts of every page. */
export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  return (
    <InfoDialog title="Keyboard shortcuts" size="s" closeText="Close" onClose={onClose}>
      <dl className="keys">
        {SHORTCUTS.map(({ keys, does }) => (
          <div key={does}>
            <dt>{does}</dt>
            <dd>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </InfoDialog>
  )
}
