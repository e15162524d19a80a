import { ArrowUpRight, BookOpen, type LucideIcon, Mail, Star, Terminal } from 'lucide-react'
import { useConfig } from '../../hooks/installation.ts'
import { serverUrls } from '../../util/urls.ts'

interface HelpLink {
  href: string
  icon: LucideIcon
  title: string
  text: string
}

export function HelpCard() {
  const config = useConfig()
  const { repositoryUrl, contactUrl } = config.data ?? {}
  const links: HelpLink[] = [
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
    ...(contactUrl
      ? [{ href: contactUrl, icon: Mail, title: 'Contact us', text: 'Ask the people who run this' }]
      : []),
    ...(repositoryUrl
      ? [
          {
            href: repositoryUrl,
            icon: Star,
            title: 'Star the repository',
            text: 'It helps others to find it',
          },
        ]
      : []),
  ]
  return (
    <section className="card wide" aria-labelledby="help">
      <header className="card-head">
        <h2 id="help">Help</h2>
      </header>
      <ul className="links">
        {links.map(({ href, icon: Icon, title, text }) => (
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
        ))}
      </ul>
    </section>
  )
}
