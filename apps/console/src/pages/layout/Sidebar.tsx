import {
  Bell,
  Blocks,
  BookOpen,
  CircleAlert,
  CircleCheck,
  CodeXml,
  FileClock,
  Globe,
  Heart,
  History,
  House,
  type LucideIcon,
  Mail,
  PanelLeft,
  Server,
  Settings,
  TriangleAlert,
  UserRound,
  Users,
  Workflow,
} from 'lucide-react'
import { Link, NavLink } from 'react-router'
import { useConfig, useEdges, useEndingCertificates } from '../../api/queries.ts'
import { useRules } from '../../api/rules.ts'
import type { StreamState } from '../../api/stream.ts'
import { useAttention } from '../../components/attention/use-attention.ts'
import { Glyph } from '../../components/Glyph.tsx'
import { type PlatformState, platformState, withAttention } from '../../components/platform.ts'
import { IconButton, Spinner } from '../../ui/Button.tsx'
import { Tooltip } from '../../ui/overlay/Tooltip.tsx'
import { contactUrl, serverUrls, urls } from '../../util/urls.ts'
import './Sidebar.css'

interface Props {
  expanded: boolean
  onExpandedChange: (expanded: boolean) => void
  hints: StreamState
}

export function Sidebar({ expanded, onExpandedChange, hints }: Props) {
  const can = useRules()
  return (
    <aside className="side" id="side" aria-label="Sidebar">
      <div className="brand">
        <Link to={urls.home()} aria-label="Postern, home">
          <Glyph />
          <span className="word">Postern</span>
        </Link>
        <IconButton
          className="wide-only"
          label={expanded ? 'Collapse sidebar' : 'Expand sidebar'}
          icon={PanelLeft}
          aria-expanded={expanded}
          aria-controls="side"
          onClick={() => onExpandedChange(!expanded)}
        />
      </div>
      <nav className="nav" aria-label="Main">
        <ul>
          <Entry to={urls.home()} icon={House} text="Home" />
        </ul>
        <h2>Pages</h2>
        <ul>
          <Entry to={urls.domains()} icon={Globe} text="Domain Names" />
          <Entry to={urls.nodes()} icon={Workflow} text="Client / Nodes" />
          {can.edges && <Entry to={urls.edges()} icon={Server} text="Edges" />}
          <Entry to={urls.services()} icon={Blocks} text="Services" />
          <Entry to={urls.requests()} icon={History} text="Requests" />
          {can.alerts && <Entry to={urls.alerts()} icon={Bell} text="Alerts" />}
          <Entry to={urls.history()} icon={FileClock} text="History" />
        </ul>
      </nav>
      <div className="side-foot">
        <HelpLinks />
        <ul className="nav drawer-only">
          <Entry to={urls.account()} icon={UserRound} text="Account" />
        </ul>
        <ul className="nav">
          {can.people && <Entry to={urls.people()} icon={Users} text="People" />}
          {can.settings && <Entry to={urls.settings()} icon={Settings} text="Settings" />}
        </ul>
        <SyncMark hints={hints} />
      </div>
    </aside>
  )
}

function Entry({ to, icon: Icon, text }: { to: string; icon: LucideIcon; text: string }) {
  return (
    <li>
      <NavLink to={to} end={to === urls.home()} title={text}>
        <Icon className="ic" />
        <span>{text}</span>
      </NavLink>
    </li>
  )
}

/** On narrow screens the drawer has the links that do not fit into the top bar. */
function HelpLinks() {
  const config = useConfig()
  const links = [
    { text: 'Repository', icon: CodeXml, href: config.data?.repositoryUrl },
    { text: 'Documentation', icon: BookOpen, href: serverUrls.docs() },
    { text: 'Contact us', icon: Mail, href: contactUrl(config.data) },
    { text: 'Sponsor', icon: Heart, href: config.data?.sponsorUrl },
  ].filter(({ href }) => Boolean(href))
  return (
    <ul className="nav drawer-only">
      {links.map(({ text, icon: Icon, href }) => (
        <li key={text}>
          <a href={href ?? ''} target="_blank" rel="noreferrer">
            <Icon className="ic" />
            <span>{text}</span>
          </a>
        </li>
      ))}
    </ul>
  )
}

const ICONS = {
  ok: <CircleCheck className="ic" />,
  applying: <Spinner />,
  warning: <TriangleAlert className="ic" />,
  problem: <CircleAlert className="ic" />,
} as const

/** Whether the data plane has applied what the console shows, and what needs a person; the tooltip gives the reason. */
function SyncMark({ hints }: { hints: StreamState }) {
  // After the page's first data, which would otherwise be requested twice.
  const edges = useEdges(hints === 'live')
  const attention = useAttention(hints === 'live')
  const ending = useEndingCertificates(hints === 'live')
  const isAwaited = [edges, attention].some(({ data, isError }) => !data && !isError)
  if (isAwaited && hints !== 'reconnecting') return null
  const isKnown = edges.data && hints !== 'reconnecting'
  const state = isKnown
    ? withAttention(platformState(edges.data), attention.data ?? NOTHING, ending)
    : UNKNOWN
  const words = (
    <>
      {ICONS[state.kind]}
      <span>
        {state.text}
        {state.revision !== null && <span className="mono"> r{state.revision}</span>}
      </span>
    </>
  )
  const details = <Details lines={state.details} total={state.total} />
  if (!state.isListed)
    return (
      <Tooltip focusable className={`sync ${state.kind}`} text={details}>
        {words}
      </Tooltip>
    )
  return (
    <Tooltip text={details}>
      <Link className={`sync ${state.kind}`} to={urls.attention()}>
        {words}
      </Link>
    </Tooltip>
  )
}

const UNKNOWN: PlatformState = {
  kind: 'problem',
  text: "Can't reach the server",
  revision: null,
  details: ["The server hasn't confirmed that changes are applied."],
}

/** The list of what needs a person could not be loaded. */
const NOTHING = { data: [], total: 0 }

function Details({ lines, total = lines.length }: { lines: readonly string[]; total?: number }) {
  const shown = lines.slice(0, 5)
  return (
    <>
      {shown.map((line) => (
        <span className="line" key={line}>
          {line}{' '}
        </span>
      ))}
      {total > shown.length && <span className="line">and {total - shown.length} more</span>}
    </>
  )
}
