import { type LucideIcon, X } from 'lucide-react'
import type { Selection } from '../../table/use-selection.ts'
import { Button, IconButton } from '../../ui/Button.tsx'
import './ManyBar.css'
import { countText, type Noun } from './many-text.ts'

export interface BarAction {
  text: string
  icon: LucideIcon
  danger?: boolean
  run: () => void
}

interface Props {
  selection: Selection<unknown>
  noun: Noun
  actions: readonly BarAction[]
}

/** What can be done with the rows that are ticked, at the foot of the window. */
export function ManyBar({ selection, noun, actions }: Props) {
  const { count, total, isAll, page } = selection
  const isMore = !isAll && page.isWhole && total > count
  return (
    <section className="many-bar" aria-label={`Selected ${noun.more}`}>
      <p role="status">
        <b>{countText(count, noun)}</b> selected
      </p>
      {isMore && (
        <Button size="sm" variant="ghost" onClick={selection.tickAll}>
          Select all {countText(total, noun)}
        </Button>
      )}
      <div className="acts">
        {actions.map(({ text, icon, danger, run }) => (
          <Button key={text} size="sm" icon={icon} className={danger ? 'takes' : undefined} onClick={run}>
            {text}
          </Button>
        ))}
      </div>
      <IconButton size="sm" label="Clear selection" icon={X} onClick={selection.clear} />
    </section>
  )
}
