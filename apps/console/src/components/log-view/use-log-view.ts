import { LIMITS } from '@postern/contract/limits'
import {
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type WheelEvent,
} from 'react'
import {
  appendLines,
  clearLines,
  countLevels,
  countNewer,
  EMPTY_BUFFER,
  type FilterLevel,
  filterLines,
  type LogBuffer,
  toggleLevel,
} from './log-lines.ts'

const NOTHING_HIDDEN: ReadonlySet<FilterLevel> = new Set()

/** What pauses the view: the button, or reading further up. */
type Hold = 'button' | 'scroll'

/** Which of the kept lines are on the screen: by level, by text, and paused or not. */
export function useLogView(kept: LogBuffer) {
  const [hidden, setHidden] = useState(NOTHING_HIDDEN)
  const [text, setText] = useState('')
  const [held, setHeld] = useState<{ by: Hold; buffer: LogBuffer } | null>(null)
  const { lines } = held?.buffer ?? kept
  const shown = useMemo(() => filterLines(lines, { hidden, text }), [lines, hidden, text])
  const counts = useMemo(() => countLevels(lines), [lines])
  return {
    lines,
    shown,
    counts,
    hidden,
    text,
    heldBy: held?.by,
    /** Lines that came since the view was paused. */
    waiting: held ? countNewer(kept, held.buffer, { hidden, text }) : 0,
    setText,
    toggle: (level: FilterLevel) => setHidden(toggleLevel(hidden, level)),
    hold: (by: Hold) => setHeld((before) => before ?? { by, buffer: kept }),
    resume: () => setHeld(null),
    showAll: () => {
      setHidden(NOTHING_HIDDEN)
      setText('')
    },
    /** Call it together with clearing the buffer. */
    clear: () => setHeld(held && { ...held, buffer: clearLines(kept) }),
  }
}

export type LogViewState = ReturnType<typeof useLogView>

/** Lines are drawn together this often, however fast they come. */
const FLUSH_MS = 50

export interface LogLines {
  buffer: LogBuffer
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
      // A background tab draws rarely; waiting lines are limited like kept ones.
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
  return { buffer, push, clear }
}

/** How near to the end counts as the end; scaled screens lose a fraction of a pixel. */
const NEAR_PX = 24

export interface Follow {
  pane: RefObject<HTMLDivElement | null>
  onScroll: () => void
  onWheel: (event: WheelEvent) => void
  onKeyDown: (event: KeyboardEvent) => void
}

/** Keeps a scrolling pane at its end until the person scrolls up; from then on the text stays in place. */
export function useFollow({ shown, heldBy, hold, resume }: LogViewState): Follow {
  const pane = useRef<HTMLDivElement>(null)
  const onScroll = () => {
    const box = pane.current
    if (!box) return
    const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX
    if (!isAtEnd) hold('scroll')
    else if (heldBy === 'scroll') resume()
  }
  const onWheel = ({ deltaY }: WheelEvent) => {
    // Under a flood of lines the pane would be at its end again before its scroll event comes.
    const box = pane.current
    if (box && deltaY < 0 && box.scrollHeight > box.clientHeight) hold('scroll')
  }
  const onKeyDown = ({ key }: KeyboardEvent) => {
    // If the pane is already at its end, there is no scroll event.
    if (key === 'End' && heldBy === 'scroll') resume()
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: new content is what moves the end
  useLayoutEffect(() => {
    const box = pane.current
    if (box && !heldBy) box.scrollTop = box.scrollHeight
  }, [shown, heldBy])
  return { pane, onScroll, onWheel, onKeyDown }
}
