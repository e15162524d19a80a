import { endpoints } from '@postern/contract/endpoints'
import { LogBatch } from '@postern/contract/logs'
import { type ReactNode, useState } from 'react'
import { useStream } from '../../api/stream.ts'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { saveFile } from '../../util/save-file.ts'
import { LiveMark } from '../LiveMark.tsx'
import { LogFoot } from './LogFoot.tsx'
import { LogRow } from './LogRow.tsx'
import { LogTools } from './LogTools.tsx'
import { type Follow, useFollow } from './use-follow.ts'
import { useLogLines } from './use-log-lines.ts'
import { type LogViewState, useLogView } from './use-log-view.ts'

interface Props {
  /** Either a domain, or a service by type and id. */
  query: { domain: string } | { type: 'http'; id: number }
  /** What stands in the head of the page, left of the stream's mark. */
  title: ReactNode
  /** Whose requests are awaited, in words. */
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
          <NoLines view={view} subject={subject} />
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

function NoLines({ view, subject }: { view: LogViewState; subject: string }) {
  if (view.lines.length === 0)
    return (
      <EmptyState
        door="ajar"
        title="Waiting for requests"
        text={`Each request to ${subject} appears here when it ends.`}
      />
    )
  return (
    <EmptyState
      door="dashed"
      title="No line matches"
      text={`${view.lines.length} lines are kept, none of these levels with this text.`}
    >
      <Button onClick={view.showAll}>Show all lines</Button>
    </EmptyState>
  )
}

function saveLines(view: LogViewState, subject: string): void {
  const text = view.shown.map((line) => `${line.text}\n`).join('')
  saveFile(`${subject}.log`, new Blob([text], { type: 'text/plain' }))
}
