import { endpoints } from '@postern/contract/endpoints'
import { LIMITS } from '@postern/contract/limits'
import { LogBatch } from '@postern/contract/logs'
import type { ServiceType } from '@postern/contract/services'
import { ArrowDown } from 'lucide-react'
import { memo, type ReactNode, useState } from 'react'
import { useStream } from '../../api/stream.ts'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Marked } from '../../ui/Marked.tsx'
import { Skeleton } from '../../ui/Table.tsx'
import { saveFile } from '../../util/save-file.ts'
import { LiveMark } from '../LiveMark.tsx'
import { LogTools } from './LogTools.tsx'
import type { LogLine } from './log-lines.ts'
import { type Follow, type LogViewState, useFollow, useLogLines, useLogView } from './use-log-view.ts'
import './LogView.css'

interface Props {
  /** Either a domain, or a service by type and id. */
  query: { domain: string } | { type: ServiceType; id: number }
  /** The title of the page, left of the stream's state. */
  title: ReactNode
  /** What the requests go to, as a name. */
  subject: string
}

/** The live log of a domain or service. */
export function LogView({ query, title, subject }: Props) {
  const { lines, push, clear } = useLogLines()
  const state = useStream(endpoints.streamLogs, {
    query,
    reconnect: true,
    onMessage: (data) => push(LogBatch.parse(data)),
  })
  const view = useLogView(lines)
  const follow = useFollow(view.shown)
  const [wrap, setWrap] = useState(false)
  return (
    <>
      <header className="head logs-head">
        {title}
        <LiveMark state={state} text="Streaming" />
      </header>
      <LogTools
        view={view}
        wrap={wrap}
        onWrap={setWrap}
        onDownload={() => saveLines(view, subject)}
        onClear={() => {
          clear()
          view.clear()
        }}
      />
      <div className="logpane">
        {view.shown.length > 0 ? (
          <LogPane view={view} follow={follow} wrap={wrap} />
        ) : (
          <NoLines view={view} subject={subject} isHttp={!('type' in query) || query.type === 'http'} />
        )}
      </div>
      <LogFoot view={view} follow={follow} />
    </>
  )
}

function LogPane({ view, follow, wrap }: { view: LogViewState; follow: Follow; wrap: boolean }) {
  return (
    <div
      ref={follow.pane}
      onScroll={follow.onScroll}
      className={wrap ? 'log wrap' : 'log'}
      role="log"
      aria-label="Log lines"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling pane must be reachable by keyboard
      tabIndex={0}
    >
      {view.shown.map((line) => (
        <LogRow key={line.key} line={line} match={view.text} />
      ))}
    </div>
  )
}

function NoLines({ view, subject, isHttp }: { view: LogViewState; subject: string; isHttp: boolean }) {
  if (view.lines.length === 0)
    return (
      <EmptyState
        door="ajar"
        title={isHttp ? 'Waiting for requests' : 'Waiting for connections'}
        text={
          isHttp
            ? `Requests to ${subject} appear here as they complete.`
            : `Connections to ${subject} appear here as they start and end.`
        }
      />
    )
  return (
    <EmptyState
      door="dashed"
      title="No lines match"
      text={`None of the ${view.lines.length} kept lines has one of these levels and this text.`}
    >
      <Button onClick={view.showAll}>Show all lines</Button>
    </EmptyState>
  )
}

function saveLines(view: LogViewState, subject: string): void {
  const text = view.shown.map((line) => `${line.text}\n`).join('')
  saveFile(`${subject}.log`, new Blob([text], { type: 'text/plain' }))
}

/** How much is kept and shown, and whether the newest line is being followed. */
function LogFoot({ view, follow }: { view: LogViewState; follow: Follow }) {
  const { lines, shown, isPaused, waiting } = view
  return (
    <footer className="logs-foot">
      <p>
        {shown.length < lines.length && (
          <>
            <b>{shown.length}</b> shown,{' '}
          </>
        )}
        <b>{lines.length}</b> of {LIMITS.logLines} lines kept
      </p>
      {follow.isFollowing ? (
        <p className="sub">
          {isPaused ? pausedText(waiting) : 'Following the newest line. Scroll up to pause.'}
        </p>
      ) : (
        <Button variant="ghost" size="sm" icon={ArrowDown} onClick={follow.toEnd}>
          Jump to the newest line
        </Button>
      )}
    </footer>
  )
}

function pausedText(waiting: number): string {
  if (waiting === 0) return 'Paused. No new lines.'
  return waiting === 1 ? 'Paused. 1 new line.' : `Paused. ${waiting} new lines.`
}

/** The log view while its service loads, of the same heights. */
export function LogSkeleton() {
  return (
    <>
      <h1 className="sr">Real Time Logs</h1>
      <div className="head logs-head waiting">
        <Skeleton width={18} />
      </div>
      <div className="tools waiting">
        <Skeleton width={40} />
      </div>
      <div className="logpane" aria-busy="true" />
    </>
  )
}

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
