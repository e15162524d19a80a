import {
  ArrowUpRight,
  BookOpen,
  Container,
  Heart,
  HouseWifi,
  type LucideIcon,
  Mail,
  ShipWheel,
  Star,
  Terminal,
} from 'lucide-react'
import { useId } from 'react'
import { useConfig } from '../../api/queries.ts'
import { contactUrl, serverUrls } from '../../util/urls.ts'

interface CardLink {
  /** Without one the link is left out. */
  href: string | null | undefined
  icon: LucideIcon
  title: string
  text: string
}

const GATEWAYS: readonly CardLink[] = [
  {
    href: serverUrls.docker(),
    icon: Container,
    title: 'Docker',
    text: 'One container beside the services it exposes',
  },
  {
    href: serverUrls.kubernetes(),
    icon: ShipWheel,
    title: 'Kubernetes',
    text: 'A chart that makes the cluster network reachable',
  },
  {
    href: serverUrls.homeAssistant(),
    icon: HouseWifi,
    title: 'Home Assistant',
    text: 'An add-on for the home network',
  },
]

/** Ways to run a node without installing it by hand. */
export function GatewayCard() {
  return <LinkCard title="Gateway Deployments" links={GATEWAYS} />
}

export function HelpCard() {
  const config = useConfig().data
  const links: CardLink[] = [
    {
      href: serverUrls.docs(),
      icon: BookOpen,
      title: 'Documentation',
      text: 'Concepts, recipes and settings',
    },
    {
      href: serverUrls.cli(),
      icon: Terminal,
      title: 'The CLI',
      text: 'Every command of postern, with examples',
    },
    {
      href: contactUrl(config),
      icon: Mail,
      title: 'Contact us',
      text: 'How to get help and what to include',
    },
    { href: config?.repositoryUrl, icon: Star, title: 'Star the repository', text: 'Help others find it' },
    { href: config?.sponsorUrl, icon: Heart, title: 'Sponsor', text: 'Keep the project going' },
  ]
  return <LinkCard title="Help" links={links} />
}

function LinkCard({ title, links }: { title: string; links: readonly CardLink[] }) {
  const titleId = useId()
  return (
    <section className="card" aria-labelledby={titleId}>
      <header className="card-head">
        <h2 id={titleId}>{title}</h2>
      </header>
      <ul className="links">
        {links.map(({ href, icon: Icon, title, text }) =>
          href ? (
            <li key={title}>
              <a href={href} target="_blank" rel="noreferrer">
                <Icon className="ic" />
                <span>
                  <b>{title}</b>
                  <span>{text}</span>
                </span>
                <ArrowUpRight className="ic go" />
              </a>
            </li>
          ) : null,
        )}
      </ul>
    </section>
  )
}
