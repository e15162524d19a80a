import { CopyButton } from './CopyButton.tsx'

/** A value to take along: read-only, whole on as many lines as it needs, joined to its copy button. */
export function CopyField({ label, value }: { label: string; value: string }) {
  return (
    <div className="secret">
      <textarea
        className="input mono"
        readOnly
        rows={1}
        spellCheck={false}
        aria-label={label}
        value={value}
        onFocus={(event) => event.target.select()}
      />
      <CopyButton value={value} label={`Copy ${label.toLowerCase()}`} />
    </div>
  )
}
