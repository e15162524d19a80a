import { figures } from '@postern/contract/endpoints/figures'
import type { Traffic } from '@postern/contract/figures'
import { useContext } from 'react'
import { Link } from 'react-router'
import { useAnswer } from '../../api/queries.ts'
import { INSIDE_ROW } from '../../ui/data/row-events.ts'
import { Sparkline } from '../../ui/data/Sparkline.tsx'
import { Skeleton } from '../../ui/data/Table.tsx'
import { formatBytes } from '../../util/bytes.ts'
import { RowsContext } from './rows-context.ts'

/** Figures are new once a minute. */
const EVERY_MS = 60_000

const ENDPOINTS = {
  services: figures.serviceTraffic,
  nodes: figures.nodeTraffic,
  domains: figures.domainTraffic,
  edges: figures.edgeTraffic,
} as const

type Lines = ReadonlyMap<number, Traffic['data'][number]>

/** How it came over the last day, and how much in all. */
export function CarriedCell({ id, to }: { id: number; to?: string }) {
  const { of, ids } = useContext(RowsContext)
  // All cells share one request.
  const { data, isError } = useAnswer(
    ENDPOINTS[of],
    { query: { ids } },
    { enabled: ids !== '', refetchInterval: EVERY_MS },
  )
  if (!data && !isError) return <Skeleton width={60} />
  const line = data && linesOf(data).get(id)
  const all = line ? line.received + line.sent : 0
  if (!line || all === 0) return <span className="none">-</span>
  const { received, sent } = line
  const title = `${formatBytes(received)} received, ${formatBytes(sent)} sent in 24 hours`
  const text = (
    <>
      <Sparkline values={line.line} />
      <span className="tn sub">{formatBytes(all)}</span>
    </>
  )
  if (to === undefined)
    return (
      <div className="carried" title={title}>
        {text}
      </div>
    )
  return (
    <Link {...INSIDE_ROW} className="carried" title={title} to={to}>
      {text}
    </Link>
  )
}

const lines = new WeakMap<Traffic, Lines>()

/** Made once for all rows of an answer. */
function linesOf(traffic: Traffic): Lines {
  const known = lines.get(traffic)
  if (known) return known
  const made = new Map(traffic.data.map((line) => [line.id, line]))
  lines.set(traffic, made)
  return made
}
