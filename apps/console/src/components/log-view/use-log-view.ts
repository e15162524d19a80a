import { LIMITS } from '@postern/contract/limits'
import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import {
  appendLines,
  clearLines,
  countLevels,
  EMPTY_BUFFER,
  type FilterLevel,
  filterLines,
  type LogLine,
  toggleLevel,
} from './log-lines.ts'

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

/** Lines are drawn together this often, however fast they come. */
const FLUSH_MS = 50

export interface LogLines {
  lines: readonly LogLine[]
  push: (texts: readonly string[]) => void
  clear: () => void
}

/** The newest lines of a stream. `push` may be called thousands of times a second. */
export function useLogLines(): LogLines {
  const [buffer, setBuffer] = useState(EMPTY_BUFFER)
  const waiting = useRef<string[]>([])
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)

  const flush = useCallback(() => {
    timer.current = undefined
    const texts = waiting.current
    waiting.current = []
    setBuffer((buffer) => appendLines(buffer, texts))
  }, [])
  const push = useCallback(
    (texts: readonly string[]) => {
      // A tab in the background draws seldom; what waits is capped like what is kept.
      waiting.current = [...waiting.current, ...texts].slice(-LIMITS.logLines)
      timer.current ??= setTimeout(flush, FLUSH_MS)
    },
    [flush],
  )
  const clear = useCallback(() => {
    waiting.current = []
    setBuffer(clearLines)
  }, [])
  useEffect(
    () => () => {
      clearTimeout(timer.current)
      timer.current = undefined
    },
    [],
  )
  return { lines: buffer.lines, push, clear }
}

/** How near to the end counts as being there; a fraction of a pixel is lost by scaled screens. */
const NEAR_PX = 24

export interface Follow {
  pane: RefObject<HTMLDivElement | null>
  isFollowing: boolean
  onScroll: () => void
  toEnd: () => void
}

/** Keeps a scrolling pane at its end until the person scrolls up. */
export function useFollow(content: unknown): Follow {
  const pane = useRef<HTMLDivElement>(null)
  const [isFollowing, setFollowing] = useState(true)

  const toEnd = useCallback(() => {
    setFollowing(true)
    const box = pane.current
    if (box) box.scrollTop = box.scrollHeight
  }, [])
  const onScroll = useCallback(() => {
    const box = pane.current
    if (box) setFollowing(box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX)
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: new content is what moves the end
  useLayoutEffect(() => {
    const box = pane.current
    if (box && isFollowing) box.scrollTop = box.scrollHeight
  }, [content, isFollowing])
  return { pane, isFollowing, onScroll, toEnd }
}
