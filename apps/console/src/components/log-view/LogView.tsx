import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { LIMITS } from '@postern/contract/limits'
import { LogBatch } from '@postern/contract/logs'
import type { ServiceType } from '@postern/contract/services/services'
import { ArrowDown } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { Link } from 'react-router'
import { useStream } from '../../api/stream.ts'
import { Button } from '../../ui/Button.tsx'
import { Skeleton } from '../../ui/data/Table.tsx'
import { EmptyState } from '../../ui/feedback/EmptyState.tsx'
import { saveFile } from '../../util/browser.ts'
import { urls } from '../../util/urls.ts'
import { LiveMark } from '../LiveMark.tsx'
import { copyWhole, LogRow } from './LogRow.tsx'
import { LogTools } from './LogTools.tsx'
import { findDays } from './log-lines.ts'
import { type Follow, type LogViewState, useFollow, useLogLines, useLogView } from './use-log-view.ts'
import './LogView.css'

interface Props {
  /** Either a domain, or a service by type and id. */
  query: { domain: string } | { type: ServiceType; id: number }
  /** The title of the page, left of the stream's state. */
  title: ReactNode
  /** The name of the requests' destination. */
  subject: string
}

/** The live log of a domain or service. */
export function LogView({ query, title, subject }: Props) {
  const { buffer, push, clear } = useLogLines()
  const state = useStream(endpoints.streamLogs, {
    query,
    reconnect: true,
    onMessage: (data) => push(LogBatch.parse(data)),
  })
  const view = useLogView(buffer)
  const follow = useFollow(view)
  const [wrap, setWrap] = useState(false)
  const [speaks, setSpeaks] = useState(false)
  return (
    <>
      <header className="head logs-head">
        {title}
        <Link className="kept" to={keptUrl(query)}>
          Requests of the last days
        </Link>
        <LiveMark state={state} text="Streaming" />
      </header>
      <LogTools
        view={view}
        wrap={wrap}
        onWrap={setWrap}
        speaks={speaks}
        onSpeak={setSpeaks}
        onDownload={() => saveLines(view, subject)}
        onClear={() => {
          clear()
          view.clear()
        }}
      />
      <div className="logpane">
        {view.shown.length > 0 ? (
          <LogPane view={view} follow={follow} wrap={wrap} speaks={speaks} />
        ) : (
          <NoLines view={view} subject={subject} isHttp={!('type' in query) || query.type === 'http'} />
        )}
        {view.heldBy && <NewLines view={view} />}
      </div>
      <LogFoot view={view} />
    </>
  )
}

function keptUrl(query: Props['query']): string {
  return urls.requests('type' in query ? { service: String(query.id) } : { domain: query.domain })
}

interface PaneProps {
  view: LogViewState
  follow: Follow
  wrap: boolean
  /** Off by default, because for a busy service a screen reader would read nothing else. */
  speaks: boolean
}

function LogPane({ view, follow, wrap, speaks }: PaneProps) {
  const { shown, text } = view
  const days = useMemo(() => findDays(shown), [shown])
  return (
    <div
      ref={follow.pane}
      onScroll={follow.onScroll}
      onWheel={follow.onWheel}
      onKeyDown={follow.onKeyDown}
      onCopy={(event) => copyWhole(event, shown)}
      className={wrap ? 'log wrap' : 'log'}
      role="log"
      aria-live={speaks ? 'polite' : 'off'}
      aria-label="Log lines"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling pane must be reachable by keyboard
      tabIndex={0}
    >
      {shown.map((line) => (
        <LogRow key={line.key} line={line} match={text} startsDay={days.has(line.key)} />
      ))}
    </div>
  )
}

/** A button back to the newest line, with the number of new ones. */
function NewLines({ view: { waiting, resume } }: { view: LogViewState }) {
  const text =
    waiting === 0
      ? 'Newest line'
      : `${waiting.toLocaleString('en-US')} new ${waiting === 1 ? 'line' : 'lines'}`
  return (
    <Button className="new-lines" size="sm" variant="primary" icon={ArrowDown} onClick={resume}>
      {text}
    </Button>
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
    <EmptyState door="dashed" title="No lines match" text="No lines match these filters.">
      <Button onClick={view.showAll}>Show all lines</Button>
    </EmptyState>
  )
}

function saveLines(view: LogViewState, subject: string): void {
  const text = view.shown.map((line) => `${line.text}\n`).join('')
  saveFile(`${subject}.log`, new Blob([text], { type: 'text/plain' }))
}

const FOLLOWING = 'Following new lines. Scroll up to pause.'
const HELD = { button: 'Paused.', scroll: 'Paused while you read. Scroll down to resume.' } as const

/** How much is kept and shown, and whether the newest line is being followed. */
function LogFoot({ view: { lines, shown, heldBy } }: { view: LogViewState }) {
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
      <p className="sub">{heldBy ? HELD[heldBy] : FOLLOWING}</p>
    </footer>
  )
}

/** The log view while its service loads, with the same heights. */
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
