import { endpoints } from '@postern/contract/console-endpoints'
import type { Found } from '@postern/contract/find'
import { ServiceType, typeName } from '@postern/contract/services'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import {
  BookOpen,
  CircleAlert,
  Globe,
  House,
  Keyboard,
  LogOut,
  Monitor,
  Moon,
  Pencil,
  Plus,
  Power,
  ScrollText,
  Sun,
  Workflow,
} from 'lucide-react'
import { useNavigate } from 'react-router'
import { useApi } from '../../api/context.ts'
import { keyOf } from '../../api/queries.ts'
import { useRules } from '../../api/rules.ts'
import { useScheme } from '../../stores/preference.ts'
import { useSettled } from '../../ui/use-settled.ts'
import { FIND_DELAY } from '../../util/constants.ts'
import { domainRowUrl, serverUrls, serviceRowUrl, urls } from '../../util/urls.ts'
import { useSignOut } from '../use-sign-out.ts'
import { type Entry, filterEntries, readVerb, type ServiceVerb } from './entries.ts'

type FoundService = Found['services'][number]

/** What the palette opens besides pages. */
export interface Doors {
  addNode: () => void
  addDomain: () => void
  expose: (type: ServiceType, nodeId: number) => void
  shortcuts: () => void
  service: (verb: ServiceVerb, service: FoundService) => void
}

/** What fits what is typed: first what the server finds, then pages and commands. */
export function useEntries(typed: string, doors: Doors) {
  const commands = useCommands(doors)
  const { verb, text } = readVerb(typed)
  const { found, isPending, error } = useFound(text)
  const findings = useFindings(found, verb, doors)
  return { entries: [...findings, ...filterEntries(commands, typed.trim())], isPending, error }
}

const NOTHING: Found = { nodes: [], domains: [], services: [] }

function useFound(wanted: string) {
  const api = useApi()
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

/** With a verb in front only what it can be done to; else all that was found, and what can be done with the first. */
function useFindings(found: Found, verb: ServiceVerb | undefined, doors: Doors): Entry[] {
  const navigate = useNavigate()
  const can = useRules().node
  const act = (service: FoundService, verb: ServiceVerb) => ({
    id: `${verb}-${service.id}`,
    group: 'Services',
    icon: VERBS[verb].icon,
    text: `${VERBS[verb].text} ${service.name}`,
    sub: <ServicePlace service={service} />,
    run: () => (verb === 'logs' ? navigate(urls.serviceLogs(service)) : doors.service(verb, service)),
  })
  const { nodes, domains, services } = found
  if (verb) return services.map((service) => act(service, verb))
  const [node] = nodes
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
      icon: Globe,
      text: service.name,
      sub: <ServicePlace service={service} />,
      run: () => navigate(serviceRowUrl(service)),
    })),
    ...services.slice(0, 1).map((service) => act(service, 'logs')),
    ...domains.map(({ id, domain }) => ({
      id: `domain-${id}`,
      group: 'Domains',
      icon: Globe,
      text: domain,
      mono: true,
      run: () => navigate(domainRowUrl(domain)),
    })),
    ...(node && can.expose ? ServiceType.options : []).map((type) => ({
      id: `expose-${type}`,
      group: 'Create',
      icon: Plus,
      text: `Expose ${typeName(type)} on ${node?.name}`,
      run: () => node && doors.expose(type, node.id),
    })),
  ]
}

const VERBS = {
  logs: { icon: ScrollText, text: 'Logs of' },
  edit: { icon: Pencil, text: 'Edit' },
  enable: { icon: Power, text: 'Enable' },
  disable: { icon: Power, text: 'Disable' },
} as const

function ServicePlace({
  service: { domain, nodeName, backendHost, backendPort },
}: {
  service: FoundService
}) {
  const place = domain ?? `${backendHost ?? 'localhost'}:${backendPort}`
  return (
    <>
      <span className="mono">{place}</span> on <bdi>{nodeName}</bdi>
    </>
  )
}

const NEW_NODE = {
  id: 'add-node',
  group: 'Create',
  icon: Plus,
  text: 'Add Client',
  words: 'new node gateway',
}
const NEW_DOMAIN = { id: 'add-domain', group: 'Create', icon: Plus, text: 'Add Domain', words: 'new' }

function useCommands({ addNode, addDomain, shortcuts }: Doors): Entry[] {
  const navigate = useNavigate()
  const [, setScheme] = useScheme()
  const signOut = useSignOut()
  const can = useRules()
  const page = (text: string, icon: Entry['icon'], to: string, words = '') => {
    return { id: to, group: 'Pages', icon, text, words, run: () => navigate(to) }
  }
  const theme = (scheme: 'auto' | 'light' | 'dark', icon: Entry['icon'], text: string) => {
    return { id: scheme, group: 'Theme', icon, text, words: 'colour scheme', run: () => setScheme(scheme) }
  }
  const help = { id: 'docs', icon: BookOpen, text: 'Documentation', words: 'docs manual settings' }
  const keys = { id: 'keys', icon: Keyboard, text: 'Keyboard shortcuts', words: 'keys' }
  return [
    page('Home', House, urls.home()),
    page('Client / Nodes', Workflow, urls.nodes(), 'gateways tokens'),
    page('Domain Names', Globe, urls.domains(), 'certificates'),
    page(
      'Needs Attention',
      CircleAlert,
      urls.attention(),
      'problems failed not answering offline lost expiring',
    ),
    { ...help, group: 'Pages', run: () => window.open(serverUrls.docs(), '_blank', 'noopener') },
    ...(can.node.add ? [{ ...NEW_NODE, run: addNode }] : []),
    ...(can.domain.add ? [{ ...NEW_DOMAIN, run: addDomain }] : []),
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
