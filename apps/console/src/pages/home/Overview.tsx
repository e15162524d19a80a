import type { EndingCertificates } from '@postern/contract/domains'
import type { Overview, RecentChange } from '@postern/contract/overview'
import { CircleCheck } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { useEndingCertificates } from '../../api/queries.ts'
import { RelativeTime } from '../../ui/Figures.tsx'
import { Skeleton } from '../../ui/Table.tsx'
import { formatDate } from '../../util/time.ts'
import { urls } from '../../util/urls.ts'
import './Overview.css'

/** What matters of the whole installation: how much there is of it, what needs a person, and what was done lately. */
export function OverviewCards({ overview }: { overview: Overview }) {
  const ending = useEndingCertificates(true)
  return (
    <>
      <Tiles overview={overview} ending={ending} />
      <div className="home news">
        <Attention {...overview} ending={ending} />
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
  const { nodes, services, disabledServices, unissued } = overview
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
        to={urls.nodes()}
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
        count={ending.length}
        words="expiring soon"
        tone={ending.length > 0 ? 'warn' : undefined}
        parts={[{ count: unissued.count, words: 'failed', tone: 'bad' }]}
        rest={ending.length === 0 ? 'All renewing on schedule' : 'All others renewing on schedule'}
      />
    </section>
  )
}

interface TileProps {
  to: string
  title: string
  count: number
  words: string
  tone?: 'warn' | undefined
  parts?: readonly Part[]
  /** Said where no part is. */
  rest?: string
}

function Tile({ to, title, count, words, tone, parts = [], rest }: TileProps) {
  const said = parts.filter((part) => part.count > 0)
  return (
    <Link className="sum" to={to}>
      <span className="sum-title">{title}</span>
      <span className={`sum-main ${tone ?? ''}`}>
        <b>{count}</b> {words}
      </span>
      <span className="sum-rest">
        {said.map((part) => (
          <span key={part.words} className={part.tone}>
            {part.count} {part.words}
          </span>
        ))}
        {said.length === 0 && rest}
      </span>
    </Link>
  )
}

/** So many of the certificates that expire soon are named. */
const MOST_ENDING = 5

interface AttentionProps extends Pick<Overview, 'services' | 'nodes' | 'lost' | 'troubled' | 'unissued'> {
  ending: EndingCertificates['data']
}

function Attention({ nodes, services, lost, troubled, unissued, ending }: AttentionProps) {
  const shownEnding = ending.slice(0, MOST_ENDING)
  const shown = lost.length + troubled.length + unissued.first.length + shownEnding.length
  const all = nodes.offline + services.failed + services.unanswered + unissued.count + ending.length
  return (
    <section className="card" aria-labelledby="attention">
      <header className="card-head">
        <h2 id="attention">Needs Attention</h2>
      </header>
      {shown === 0 ? (
        <p className="card-body calm">
          <CircleCheck className="ic" /> Nothing needs your attention.
        </p>
      ) : (
        <ul className="lines">
          {lost.map(({ id, name, lastSeen, services }) => (
            <Line
              key={`node ${id}`}
              {...(services > 0 && { tone: 'bad' })}
              to={urls.node(id)}
              name={name}
              text={
                <>
                  was last seen <RelativeTime time={lastSeen} />
                </>
              }
              below={unreachableText(services)}
            />
          ))}
          {troubled.map(({ id, name, nodeId, nodeName, state }) => (
            <Line
              key={id}
              tone={state.phase === 'failed' ? 'bad' : 'warn'}
              to={urls.node(nodeId)}
              name={name}
              text={`on ${nodeName}`}
              below={state.problem}
            />
          ))}
          {unissued.first.map(({ id, domain, error }) => (
            <Line
              key={`order ${id}`}
              tone="bad"
              to={searchDomain(domain)}
              name={domain}
              text="has no certificate from its authority"
              below={error}
            />
          ))}
          {shownEnding.map(({ id, domain, notAfter, error }) => (
            <Line
              key={`certificate ${id}`}
              tone="warn"
              to={urls.domains()}
              name={domain}
              text={`certificate expires ${formatDate(notAfter)}`}
              below={error}
            />
          ))}
          {all > shown && <li>and {all - shown} more</li>}
        </ul>
      )}
    </section>
  )
}

function unreachableText(services: number): string {
  if (services === 0) return 'It has no enabled services.'
  return services === 1 ? 'Its service is unreachable.' : `Its ${services} services are unreachable.`
}

function Changes({ changes }: { changes: readonly RecentChange[] }) {
  return (
    <section className="card" aria-labelledby="changes">
      <header className="card-head">
        <h2 id="changes">Recent changes</h2>
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
  return domain === null ? undefined : searchDomain(domain)
}

const searchDomain = (domain: string) => `${urls.domains()}?search=${encodeURIComponent(domain)}`

const sentence = (words: string) => words.charAt(0).toUpperCase() + words.slice(1)

interface LineProps {
  to: string | undefined
  name: string | null
  text: ReactNode
  below: ReactNode
  tone?: 'bad' | 'warn'
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
