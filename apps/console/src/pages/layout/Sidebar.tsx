import { BookOpen, CodeXml, Globe, House, type LucideIcon, Mail, PanelLeft, Workflow } from 'lucide-react'
import { Link, NavLink } from 'react-router'
import { Glyph } from '../../components/Glyph.tsx'
import { useConfig } from '../../hooks/use-config.ts'
import { IconButton } from '../../ui/IconButton.tsx'
import { serverUrls, urls } from '../../util/urls.ts'
import { SyncMark } from './SyncMark.tsx'

interface Props {
  expanded: boolean
  onExpandedChange: (expanded: boolean) => void
}

export function Sidebar({ expanded, onExpandedChange }: Props) {
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
        </ul>
      </nav>
      <div className="side-foot">
        <HelpLinks />
        <SyncMark />
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

/** On narrow screens the drawer has what the top bar has no room for. */
function HelpLinks() {
  const config = useConfig()
  const links = [
    { text: 'Repository', icon: CodeXml, href: config.data?.repositoryUrl },
    { text: 'Documentation', icon: BookOpen, href: serverUrls.docs() },
    { text: 'Contact us', icon: Mail, href: config.data?.contactUrl },
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
