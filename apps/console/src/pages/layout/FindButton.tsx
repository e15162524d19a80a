import { Search } from 'lucide-react'
import { MODIFIER } from '../../util/browser.ts'

/** Opens the palette; only an icon on a narrow screen. */
export function FindButton({ onClick }: { onClick: () => void }) {
  return (
    <button
      type="button"
      className="find"
      aria-label="Search and commands"
      aria-keyshortcuts="Control+K Meta+K"
      onClick={onClick}
    >
      <Search className="ic" />
      <span>Search</span>
      {/* Only visual: screen readers get aria-keyshortcuts. */}
      <kbd data-keys={`${MODIFIER} K`} />
    </button>
  )
}
