import type { Option } from './Select.tsx'

export interface PillsProps {
  label: string
  options: readonly Option[]
  value: string
  onValueChange: (value: string) => void
}

/** Chooses one of a few. */
export function Pills({ label, options, value, onValueChange }: PillsProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: these are buttons of a tool bar, not a part of a form
    <div className="pills" role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onValueChange(option.value)}
        >
          {option.text}
        </button>
      ))}
    </div>
  )
}
