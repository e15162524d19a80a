import { useMemo, useState } from 'react'
import { countLevels, filterLines, toggleLevel } from './log-buffer.ts'
import type { FilterLevel, LogLine } from './log-line.ts'

const NOTHING_HIDDEN: ReadonlySet<FilterLevel> = new Set()

/** What of the kept lines is on the screen: levels, a text to find, and a pause that holds the picture still. */
export function useLogView(kept: readonly LogLine[]) {
  const [hidden, setHidden] = useState(NOTHING_HIDDEN)
  const [text, setText] = useState('')
  const [frozen, setFrozen] = useState<readonly LogLine[] | null>(null)
  const lines = frozen ?? kept
  const shown = useMemo(() => filterLines(lines, { hidden, text }), [lines, hidden, text])
  const counts = useMemo(() => countLevels(lines), [lines])
  return {
    lines,
    shown,
    counts,
    hidden,
    text,
    isPaused: frozen !== null,
    /** Lines that came during the pause and are still kept. */
    waiting: frozen ? countAfter(kept, frozen.at(-1)?.key ?? -1) : 0,
    setText,
    toggle: (level: FilterLevel) => setHidden(toggleLevel(hidden, level)),
    togglePause: () => setFrozen(frozen ? null : kept),
    showAll: () => {
      setHidden(NOTHING_HIDDEN)
      setText('')
    },
    /** To be called with the buffer's own clearing. */
    clear: () => setFrozen(frozen ? [] : null),
  }
}

function countAfter(lines: readonly LogLine[], key: number): number {
  return lines.filter((line) => line.key > key).length
}

export type LogViewState = ReturnType<typeof useLogView>
