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

/** What holds the picture still: the button, or reading further up. */
type Hold = 'button' | 'scroll'

/** What of the kept lines is on the screen: levels, a text to find, and a hold that keeps the picture still. */
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
    /** Lines that came since the picture stands still. */
    waiting: held ? countNewer(kept, held.buffer, { hidden, text }) : 0,
    setText,
    toggle: (level: FilterLevel) => setHidden(toggleLevel(hidden, level)),
    hold: (by: Hold) => setHeld((before) => before ?? { by, buffer: kept }),
    resume: () => setHeld(null),
    showAll: () => {
      setHidden(NOTHING_HIDDEN)
      setText('')
    },
    /** To be called with the buffer's own clearing. */
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
  return { buffer, push, clear }
}

/** How near to the end counts as being there; a fraction of a pixel is lost by scaled screens. */
const NEAR_PX = 24

export interface Follow {
  pane: RefObject<HTMLDivElement | null>
  onScroll: () => void
  onWheel: (event: WheelEvent) => void
  onKeyDown: (event: KeyboardEvent) => void
}

/** Keeps a scrolling pane at its end, until the person scrolls up: then what is read stays where it is. */
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
    // Under a flood of lines the pane would be at its end again before it says that it was scrolled.
    const box = pane.current
    if (box && deltaY < 0 && box.scrollHeight > box.clientHeight) hold('scroll')
  }
  const onKeyDown = ({ key }: KeyboardEvent) => {
    // Where the pane is at its end already, nothing scrolls that could say so.
    if (key === 'End' && heldBy === 'scroll') resume()
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: new content is what moves the end
  useLayoutEffect(() => {
    const box = pane.current
    if (box && !heldBy) box.scrollTop = box.scrollHeight
  }, [shown, heldBy])
  return { pane, onScroll, onWheel, onKeyDown }
}
