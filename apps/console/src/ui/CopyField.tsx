import { CopyButton } from './CopyButton.tsx'

/** A value to take along: read-only, joined to its copy button. */
export function CopyField({ label, value }: { label: string; value: string }) {
  return (
    <div className="secret">
      <input
        className="input mono"
        readOnly
        spellCheck={false}
        aria-label={label}
        value={value}
        onFocus={(event) => event.target.select()}
      />
      <CopyButton value={value} label={`Copy ${label.toLowerCase()}`} />
    </div>
  )
}
