import { LIMITS } from '@postern/contract/limits'
import { useCallback, useEffect, useRef, useState } from 'react'
import { appendLines, clearLines, EMPTY_BUFFER } from './log-buffer.ts'
import type { LogLine } from './log-line.ts'

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
