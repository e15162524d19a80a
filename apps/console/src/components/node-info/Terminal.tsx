import { SquareTerminal } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { TERMINAL_STEP } from '../../util/constants.ts'
import './Terminal.css'

interface TerminalProps {
  command: ReactNode
  /** What the command prints, line by line; the last line is its success. */
  results: readonly string[]
  /** At the end of the title, like a copy button. */
  action: ReactNode
}

/** A terminal that plays a command. Lines still to come keep their space. */
export function Terminal({ command, results, action }: TerminalProps) {
  const shown = useReveal(results.length + 1, TERMINAL_STEP)
  return (
    <figure className="term" aria-label="Terminal example">
      <figcaption>
        <SquareTerminal className="ic" aria-hidden />
        Terminal
        {action}
      </figcaption>
      <pre>
        <span className="ps">$</span> {command}
        {results.map((text, index) => (
          <span key={text} className={resultClass(index + 1 < shown, index === results.length - 1)}>
            {`\n${text}`}
          </span>
        ))}
        {'\n'}
        <span className="cur" aria-hidden>
          {' '}
        </span>
      </pre>
    </figure>
  )
}

function resultClass(isShown: boolean, isLast: boolean): string {
  return `${isLast ? 'ok' : 'ot'}${isShown ? '' : ' later'}`
}

/** How many of `count` entries show: one at once and one more each `everyMs`; all when motion is not wanted. */
function useReveal(count: number, everyMs: number): number {
  const [isStill] = useState(() => matchMedia('(prefers-reduced-motion: reduce)').matches)
  const [shown, setShown] = useState(isStill ? count : 1)
  useEffect(() => {
    if (shown >= count) return
    const timer = setTimeout(() => setShown(shown + 1), everyMs)
    return () => clearTimeout(timer)
  }, [shown, count, everyMs])
  return Math.min(shown, count)
}
