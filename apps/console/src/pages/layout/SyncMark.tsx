import { CircleAlert, CircleCheck } from 'lucide-react'
import { platformState } from '../../components/platform.ts'
import { Spinner } from '../../ui/Spinner.tsx'
import { Tooltip } from '../../ui/Tooltip.tsx'
import { useEdges } from './queries.ts'

const ICONS = {
  ok: <CircleCheck className="ic" />,
  applying: <Spinner />,
  problem: <CircleAlert className="ic" />,
} as const

/** Whether the data plane runs what the console shows; the reason is its tooltip. */
export function SyncMark() {
  const edges = useEdges()
  if (!edges.data && !edges.isError) return null
  const state = edges.data ? platformState(edges.data) : UNKNOWN
  return (
    <Tooltip focusable className={`sync ${state.kind}`} text={<Details lines={state.details} />}>
      {ICONS[state.kind]}
      <span>
        {state.text}
        {state.revision !== null && <span className="mono"> r{state.revision}</span>}
      </span>
    </Tooltip>
  )
}

const UNKNOWN = {
  kind: 'problem',
  text: 'State unknown',
  revision: null,
  details: ['The server did not say whether changes are in force.'],
} as const

function Details({ lines }: { lines: readonly string[] }) {
  const shown = lines.slice(0, 5)
  return (
    <>
      {shown.map((line) => (
        <span className="line" key={line}>
          {line}{' '}
        </span>
      ))}
      {lines.length > shown.length && <span className="line">and {lines.length - shown.length} more</span>}
    </>
  )
}
