import { endpoints } from '@postern/contract/console-endpoints'
import type { Found } from '@postern/contract/find'
import { ServiceType } from '@postern/contract/services'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import {
  BookOpen,
  Globe,
  House,
  Keyboard,
  LogOut,
  Monitor,
  Moon,
  Plus,
  ScrollText,
  Sun,
  Workflow,
} from 'lucide-react'
import { useNavigate } from 'react-router'
import { useApi } from '../../api/context.ts'
import { keyOf } from '../../api/queries.ts'
import { useSettled } from '../../forms/use-settled.ts'
import { useScheme } from '../../stores/preference.ts'
import { FIND_DELAY } from '../../util/constants.ts'
import { domainRowUrl, serverUrls, urls } from '../../util/urls.ts'
import { typeName } from '../service-card/service-text.ts'
import { useSignOut } from '../use-sign-out.ts'
import { type Entry, filterEntries } from './entries.ts'

/** What the palette opens besides pages. */
export interface Doors {
  addNode: () => void
  addDomain: () => void
  expose: (type: ServiceType, nodeId: number) => void
  shortcuts: () => void
}

/** What fits what is typed: first what the server finds, then pages and commands. */
export function useEntries(typed: string, doors: Doors) {
  const commands = useCommands(doors)
  const { found, isPending, error } = useFound(typed)
  const findings = useFindings(found, doors)
  return { entries: [...findings, ...filterEntries(commands, typed.trim())], isPending, error }
}

const NOTHING: Found = { nodes: [], domains: [], services: [] }

function useFound(typed: string) {
  const api = useApi()
  const wanted = typed.trim()
  const text = useSettled(wanted, FIND_DELAY)
  const input = { query: { text } }
  const query = useQuery({
    queryKey: keyOf(endpoints.find, input),
    queryFn: ({ signal }) => api.call(endpoints.find, { ...input, signal }),
    enabled: text !== '',
    placeholderData: keepPreviousData,
  })
  return {
    found: (wanted !== '' && query.data) || NOTHING,
    isPending: wanted !== text || query.isPlaceholderData || (text !== '' && query.isPending),
    error: wanted === '' ? null : query.error,
  }
}

function useFindings({ nodes, domains, services }: Found, doors: Doors): Entry[] {
  const navigate = useNavigate()
  const [first] = nodes
  return [
    ...nodes.map(({ id, name, address }) => ({
      id: `node-${id}`,
      group: 'Nodes',
      icon: Workflow,
      text: name,
      sub: <span className="mono">{address}</span>,
      run: () => navigate(urls.node(id)),
    })),
    ...services.map((service) => ({
      id: `service-${service.id}`,
      group: 'Services',
      icon: ScrollText,
      text: service.name,
      sub: (
        <>
          {service.domain && <span className="mono">{service.domain}</span>} on <bdi>{service.nodeName}</bdi>
        </>
      ),
      run: () => navigate(urls.serviceLogs(service)),
    })),
    ...domains.map(({ id, domain }) => ({
      id: `domain-${id}`,
      group: 'Domains',
      icon: Globe,
      text: domain,
      mono: true,
      run: () => navigate(domainRowUrl(domain)),
    })),
    ...(first ? ServiceType.options : []).map((type) => ({
      id: `expose-${type}`,
      group: 'Create',
      icon: Plus,
      text: `Expose ${typeName(type)} on ${first?.name}`,
      run: () => first && doors.expose(type, first.id),
    })),
  ]
}

function useCommands({ addNode, addDomain, shortcuts }: Doors): Entry[] {
  const navigate = useNavigate()
  const [, setScheme] = useScheme()
  const signOut = useSignOut()
  const page = (text: string, icon: Entry['icon'], to: string, words = '') => {
    return { id: to, group: 'Pages', icon, text, words, run: () => navigate(to) }
  }
  const theme = (scheme: 'auto' | 'light' | 'dark', icon: Entry['icon'], text: string) => {
    return { id: scheme, group: 'Theme', icon, text, words: 'colour scheme', run: () => setScheme(scheme) }
  }
  const help = { id: 'docs', icon: BookOpen, text: 'Documentation', words: 'docs manual' }
  const keys = { id: 'keys', icon: Keyboard, text: 'Keyboard shortcuts', words: 'keys' }
  return [
    page('Home', House, urls.home()),
    page('Client / Nodes', Workflow, urls.nodes(), 'gateways'),
    page('Domain Names', Globe, urls.domains(), 'certificates'),
    { ...help, group: 'Pages', run: () => window.open(serverUrls.docs(), '_blank', 'noopener') },
    {
      id: 'add-node',
      group: 'Create',
      icon: Plus,
      text: 'Add Client',
      words: 'new node gateway',
      run: addNode,
    },
    { id: 'add-domain', group: 'Create', icon: Plus, text: 'Add Domain', words: 'new', run: addDomain },
    theme('light', Sun, 'Light'),
    theme('dark', Moon, 'Dark'),
    theme('auto', Monitor, 'Follow the system'),
    { ...keys, group: 'Session', run: shortcuts },
    {
      id: 'sign-out',
      group: 'Session',
      icon: LogOut,
      text: 'Sign out',
      words: 'log',
      run: () => signOut.mutate(),
    },
  ]
}
