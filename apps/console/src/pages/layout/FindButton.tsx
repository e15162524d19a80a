import { Search } from 'lucide-react'
import { MODIFIER } from '../../util/browser.ts'

/** Opens the palette; on a narrow screen only its icon. */
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
      {/* Drawn, not said: aria-keyshortcuts says it. */}
      <kbd data-keys={`${MODIFIER} K`} />
    </button>
  )
}
