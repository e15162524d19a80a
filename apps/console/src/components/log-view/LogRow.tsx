import { type ClipboardEvent, memo } from 'react'
import { Marked } from '../../ui/data/Marked.tsx'
import { type LogLine, MARKER } from './log-lines.ts'

interface Props {
  line: LogLine
  match: string
  /** The first line of a day has the date above it. */
  startsDay: boolean
}

/** One line, coloured by its marker. It is split so that a narrow screen can reorder the parts. */
export const LogRow = memo(function LogRow({ line, match, startsDay }: Props) {
  const { day, clock, from, asked, status } = line
  const part = (className: string, text: string) =>
    text !== '' && (
      <>
        <span className={className}>
          <Marked text={text} match={match} />
        </span>{' '}
      </>
    )
  return (
    <>
      {startsDay && (
        <p className="day">
          <time dateTime={day}>{day.replace(/(.*)-(.*)-(.*)/, '$2/$3/$1')}</time> UTC
        </p>
      )}
      <div data-level={line.level} data-key={line.key}>
        {part('lv', line.marker)}
        {clock && (
          <>
            <time dateTime={`${day}T${clock}Z`}>
              <Marked text={clock} match={match} />
            </time>{' '}
          </>
        )}
        {part('from', from)}
        {part('asked', asked)}
        {part('status', status)}
        <span>
          <Rest line={line} match={match} />
        </span>
      </div>
    </>
  )
})

/** A line that does not begin with its marker has it in here. */
function Rest({ line: { marker, level, rest }, match }: Pick<Props, 'line' | 'match'>) {
  const [found] = (marker === '' && level !== 'other' && MARKER.exec(rest)) || []
  if (found === undefined) return <Marked text={rest} match={match} />
  const at = rest.indexOf(found)
  return (
    <>
      <Marked text={rest.slice(0, at)} match={match} />
      <b className="lv-in">{found}</b>
      <Marked text={rest.slice(at + found.length)} match={match} />
    </>
  )
}

/** A selection of more than one line's part is copied as the original lines, with their dates. */
export function copyWhole(event: ClipboardEvent<HTMLElement>, lines: readonly LogLine[]): void {
  const selection = getSelection()
  if (!selection || selection.isCollapsed) return
  const range = selection.getRangeAt(0)
  const touched = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-key]')].filter((row) =>
    reaches(range, row),
  )
  const [only] = touched
  if (
    touched.length === 0 ||
    (touched.length === 1 && selection.toString().trim() !== only?.innerText.trim())
  )
    return
  const keys = new Set(touched.map((row) => Number(row.dataset.key)))
  const whole = lines.filter(({ key }) => keys.has(key)).map(({ text }) => text)
  event.clipboardData.setData('text/plain', whole.join('\n'))
  event.preventDefault()
}

/** Whether some text of the row is selected; a selection of a whole line may end at the start of the next. */
function reaches(range: Range, row: HTMLElement): boolean {
  if (!range.intersectsNode(row)) return false
  const part = range.cloneRange()
  if (!row.contains(part.startContainer)) part.setStartBefore(row)
  if (!row.contains(part.endContainer)) part.setEndAfter(row)
  return part.toString() !== ''
}
