import { Fragment, memo } from 'react'
import { type LogLine, splitMatches } from './log-line.ts'

/** One line, coloured by its marker; what is selected and copied is the line as it came. */
export const LogRow = memo(function LogRow({ line, match }: { line: LogLine; match: string }) {
  return (
    <div data-level={line.level}>
      {line.marker && (
        <>
          <span className="lv">{line.marker}</span>{' '}
        </>
      )}
      {line.time && (
        <>
          <time>
            <Marked text={line.time} match={match} />
          </time>{' '}
        </>
      )}
      <Marked text={line.rest} match={match} />
    </div>
  )
})

function Marked({ text, match }: { text: string; match: string }) {
  return splitMatches(text, match).map((part, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
      <mark key={index}>{part}</mark>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
      <Fragment key={index}>{part}</Fragment>
    ),
  )
}
