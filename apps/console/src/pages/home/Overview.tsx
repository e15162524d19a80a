import type { EndingCertificates } from '@postern/contract/domains'
import type { Overview, RecentChange } from '@postern/contract/overview'
import type { ServiceStanding } from '@postern/contract/services/services'
import { CircleCheck } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { useEndingCertificates } from '../../api/queries.ts'
import { AttentionText, attentionUrl, ProblemText } from '../../components/attention/attention.tsx'
import { useAttention } from '../../components/attention/use-attention.ts'
import { RelativeTime } from '../../ui/data/Figures.tsx'
import { Skeleton } from '../../ui/data/Table.tsx'
import { domainRowUrl, urls } from '../../util/urls.ts'
import { TrafficCard } from './TrafficCard.tsx'
import './Overview.css'

/** The installation at a glance: its counts, what needs a person, and recent changes. */
export function OverviewCards({ overview }: { overview: Overview }) {
  const ending = useEndingCertificates(true)
  return (
    <>
      <Tiles overview={overview} ending={ending} />
      <div className="news">
        <AttentionCard />
        <Changes changes={overview.changes} />
        <TrafficCard />
      </div>
    </>
  )
}

/** The skeleton while it loads. */
export function OverviewSkeleton() {
  return (
    <div className="sums waiting" aria-busy="true">
      {['Nodes', 'Services', 'Certificates'].map((title) => (
        <div className="sum" key={title}>
          <span className="sum-title">{title}</span>
          <span className="sum-main">
            <Skeleton width={40} />
          </span>
        </div>
      ))}
    </div>
  )
}

/** A secondary number of a tile; zeros are left out. */
interface Part {
  count: number
  words: string
  tone?: 'bad' | 'warn'
  to?: string
}

function Tiles({ overview, ending }: { overview: Overview; ending: EndingCertificates['data'] }) {
  const { nodes, services, disabledServices, certificates } = overview
  return (
    <section className="sums" aria-label="Overview">
      <Tile
        to={urls.nodes()}
        title="Nodes"
        count={nodes.online}
        words="online"
        parts={[
          { count: nodes.offline, words: 'offline', tone: 'bad' },
          { count: nodes.idle, words: 'idle', tone: 'warn' },
          { count: nodes.neverConnected, words: 'never connected' },
          { count: nodes.disconnected, words: 'disconnected' },
        ]}
      />
      <Tile
        to={urls.services()}
        title="Services"
        count={services.live}
        words="live"
        main={urls.services({ state: 'live' })}
        parts={[
          standing('failed', services.failed, 'failed', 'bad'),
          standing('unanswered', services.unanswered, 'not answering', 'warn'),
          standing('node-offline', services['node-offline'], 'with their node offline', 'warn'),
          standing('checking', services.checking, 'checking'),
          standing('applying', services.applying, 'applying'),
          standing('node-disconnected', services['node-disconnected'], 'with their node disconnected'),
          standing('disabled', disabledServices, 'disabled'),
        ]}
      />
      <Tile
        to={urls.domains()}
        title="Certificates"
        count={certificates.valid}
        words="valid"
        parts={[
          { count: certificates.failed, words: 'failed', tone: 'bad' },
          { count: ending.length, words: 'expiring soon', tone: 'warn' },
          { count: certificates.pending, words: 'pending' },
        ]}
      />
    </section>
  )
}

/** A number of services, which leads to just these. */
function standing(state: ServiceStanding, count: number, words: string, tone?: Part['tone']): Part {
  return { count, words, to: urls.services({ state }), ...(tone && { tone }) }
}

interface TileProps {
  to: string
  /** Where the main number leads, if each leads to what it counts; else all is one link. */
  main?: string
  title: string
  count: number
  words: string
  parts: readonly Part[]
}

function Tile({ to, main, title, count, words, parts }: TileProps) {
  const counted = parts.filter((part) => part.count > 0)
  const sum = (
    <>
      <b>{count}</b> {words}
    </>
  )
  const rest = (
    <span className="sum-rest">
      {counted.map((part) => {
        const text = `${part.count} ${part.words}`
        return part.to === undefined ? (
          <span key={part.words} className={part.tone}>
            {text}
          </span>
        ) : (
          <Link key={part.words} className={part.tone} to={part.to}>
            {text}
          </Link>
        )
      })}
    </span>
  )
  if (main === undefined)
    return (
      <Link className="sum" to={to}>
        <span className="sum-title">{title}</span>
        <span className="sum-main">{sum}</span>
        {rest}
      </Link>
    )
  return (
    <div className="sum">
      <Link className="sum-title" to={to}>
        {title}
      </Link>
      <span className="sum-main">
        <Link to={main}>{sum}</Link>
      </span>
      {rest}
    </div>
  )
}

function AttentionCard() {
  const { data, isError } = useAttention(true)
  if (isError || !data) return null
  const { data: rows, total } = data
  return (
    <section className="card" aria-labelledby="attention">
      <header className="card-head">
        <h2 id="attention">Needs Attention{total > 0 && <span className="sub"> {total}</span>}</h2>
        {total > rows.length && (
          <Link className="more" to={urls.attention()}>
            See all {total}
          </Link>
        )}
      </header>
      {total === 0 ? (
        <p className="card-body calm">
          <CircleCheck className="ic" /> Nothing needs your attention.
        </p>
      ) : (
        <ul className="lines">
          {rows.map((row) => (
            <Line
              key={row.id}
              tone={row.tone}
              to={attentionUrl(row)}
              name={row.name}
              text={<AttentionText row={row} />}
              below={<ProblemText row={row} />}
            />
          ))}
          {total > rows.length && (
            <li>
              <Link to={urls.attention()}>and {total - rows.length} more</Link>
            </li>
          )}
        </ul>
      )}
    </section>
  )
}

function Changes({ changes }: { changes: readonly RecentChange[] }) {
  return (
    <section className="card" aria-labelledby="changes">
      <header className="card-head">
        <h2 id="changes">Recent Changes</h2>
        <Link to={urls.history()}>Whole history</Link>
      </header>
      <ul className="lines">
        {changes.map((change) => (
          <Line
            key={change.revision}
            to={placeOf(change)}
            name={change.name}
            text={change.name === null ? sentence(change.what) : change.what}
            below={
              <>
                {change.actor}, <RelativeTime time={Date.parse(change.at)} />
              </>
            }
          />
        ))}
      </ul>
    </section>
  )
}

/** The page that shows the changed thing; undefined when it is gone. */
function placeOf({ nodeId, domain }: RecentChange): string | undefined {
  if (nodeId !== null) return urls.node(nodeId)
  return domain === null ? undefined : domainRowUrl(domain)
}

const sentence = (words: string) => words.charAt(0).toUpperCase() + words.slice(1)

interface LineProps {
  to: string | undefined
  name: string | null
  text: ReactNode
  below: ReactNode
  tone?: 'bad' | 'warn' | 'none'
}

function Line({ to, name, text, below, tone }: LineProps) {
  return (
    <li className={tone}>
      <p>
        {name !== null && (
          <>{to === undefined ? <bdi>{name}</bdi> : <Link to={to}>{<bdi>{name}</bdi>}</Link>} </>
        )}
        {text}
      </p>
      <p className="below">{below}</p>
    </li>
  )
}
