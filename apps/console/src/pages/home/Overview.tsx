import type { EndingCertificates } from '@postern/contract/domains'
import type { Overview, RecentChange } from '@postern/contract/overview'
import { CircleCheck } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { useEndingCertificates } from '../../api/queries.ts'
import { AttentionText, attentionUrl } from '../../components/attention/attention.tsx'
import { problemOf, useAttention } from '../../components/attention/use-attention.ts'
import { RelativeTime } from '../../ui/data/Figures.tsx'
import { Skeleton } from '../../ui/data/Table.tsx'
import { domainRowUrl, urls } from '../../util/urls.ts'
import './Overview.css'

/** What matters of the whole installation: how much there is of it, what needs a person, and what was done lately. */
export function OverviewCards({ overview }: { overview: Overview }) {
  const ending = useEndingCertificates(true)
  return (
    <>
      <Tiles overview={overview} ending={ending} />
      <div className="news">
        <AttentionCard />
        <Changes changes={overview.changes} />
      </div>
    </>
  )
}

/** What will be there, in its place. */
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

/** A number of a tile that is not the main one; those of none are left out. */
interface Part {
  count: number
  words: string
  tone?: 'bad' | 'warn'
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
        to={services.failed + services.unanswered > 0 ? `${urls.attention()}?type=service` : urls.nodes()}
        title="Services"
        count={services.live}
        words="live"
        parts={[
          { count: services.failed, words: 'failed', tone: 'bad' },
          { count: services.unanswered, words: 'not answering', tone: 'warn' },
          { count: services['node-offline'], words: 'with their node offline', tone: 'warn' },
          { count: services.checking, words: 'checking' },
          { count: services.applying, words: 'applying' },
          { count: services['node-disconnected'], words: 'with their node disconnected' },
          { count: disabledServices, words: 'disabled' },
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

interface TileProps {
  to: string
  title: string
  count: number
  words: string
  parts: readonly Part[]
}

function Tile({ to, title, count, words, parts }: TileProps) {
  const counted = parts.filter((part) => part.count > 0)
  return (
    <Link className="sum" to={to}>
      <span className="sum-title">{title}</span>
      <span className="sum-main">
        <b>{count}</b> {words}
      </span>
      <span className="sum-rest">
        {counted.map((part) => (
          <span key={part.words} className={part.tone}>
            {part.count} {part.words}
          </span>
        ))}
      </span>
    </Link>
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
              below={problemOf(row)}
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

/** Where what changed is to be seen; undefined when it is gone. */
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
