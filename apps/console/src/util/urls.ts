import type { Service, ServiceStanding } from '@postern/contract/services/services'

/** What the list of all services may be narrowed by, as its own address says it. */
interface ServiceFilters {
  state?: ServiceStanding
  node?: number
}

/** Every path of the console. The router and all links are made of these; the first two are documents of their own. */
export const urls = {
  login: () => '/login',
  /** Where a link for a person leads; its secret is behind the `#`. */
  invite: () => '/invite',
  home: () => '/',
  /** Where a person lets the command in; a code behind the `#` is filled in. */
  device: () => '/device',
  /** Where people are led who must set up a second factor before anything else. */
  setUpFactor: () => '/account/second-factor',
  domains: () => '/domains',
  testSignIn: () => '/domains/test-sign-in',
  domainLogs: (domain: string) => `/domains/${encodeURIComponent(domain)}/logs`,
  nodes: () => '/nodes',
  node: (id: number) => `/nodes/${id}`,
  edges: () => '/edges',
  attention: () => '/nodes/attention',
  /** Why visitors of an address come no further; without one a person types it. */
  why: (address?: string) => (address === undefined ? '/why' : `/why?url=${encodeURIComponent(address)}`),
  services: (filters: ServiceFilters = {}) => {
    const query = new URLSearchParams(
      Object.entries(filters).map(([name, value]): [string, string] => [name, String(value)]),
    )
    return query.size > 0 ? `/services?${query}` : '/services'
  },
  serviceLogs: ({ nodeId, type, id }: Pick<Service, 'nodeId' | 'type' | 'id'>) =>
    `/nodes/${nodeId}/${type}/${id}/logs`,
  /** @param at the moment to show, in ms since the epoch */
  serviceTraffic: ({ nodeId, type, id }: Pick<Service, 'nodeId' | 'type' | 'id'>, at?: number) =>
    `/nodes/${nodeId}/${type}/${id}/traffic${at === undefined ? '' : `?at=${new Date(at).toISOString()}`}`,
  account: () => '/account',
  people: () => '/people',
  serviceHistory: ({ nodeId, type, id }: Pick<Service, 'nodeId' | 'type' | 'id'>) =>
    `/nodes/${nodeId}/${type}/${id}/history`,
  /** @param filters as the page's address has them */
  history: (filters: Filters = {}) => withQuery('/history', filters),
  settings: () => '/settings',
  alerts: () => '/alerts',
  alertHistory: () => '/alerts/history',
  alertChannels: () => '/alerts/channels',
  alertRules: () => '/alerts/rules',
  /** @param filters as the page's address has them */
  requests: (filters: Filters = {}) => withQuery('/requests', filters),
} as const

type Filters = Readonly<Record<string, string | undefined>>

function withQuery(path: string, filters: Filters): string {
  const given = Object.entries(filters).flatMap(([key, value]) => (value ? [[key, value]] : []))
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

/** Pages that the server itself serves. */
export const serverUrls = {
  docs: () => '/docs',
  terms: () => '/docs/terms',
  contact: () => '/docs/contact',
  cli: () => '/docs/cli',
  commandSignIn: () => '/docs/command#sign-in',
  apiTokens: () => '/docs/programs',
  settings: () => '/docs/settings',
  setting: (name: string) => `/docs/settings#${name.toLowerCase().replaceAll('_', '-')}`,
  severalEdges: () => '/docs/several-edges',
  secondEdge: () => '/docs/several-edges#what-a-second-edge-needs',
  edgeDocker: () => '/docs/several-edges#with-docker',
  docker: () => '/docs/docker',
  dockerGateway: () => '/docs/docker#a-gateway',
  kubernetes: () => '/docs/kubernetes',
  homeAssistant: () => '/docs/home-assistant',
  withoutDomain: () => '/docs/domain-or-path#what-breaks-without-a-domain',
  trustRoot: () => '/docs/certificates#trust-the-root',
  lostPassword: () => '/docs/accounts#a-forgotten-password',
  secondFactors: () => '/docs/second-factors',
  lostFactor: () => '/docs/second-factors#when-they-are-lost',
  root: () => '/install/root.crt',
  signIn: () => '/docs/sign-in',
  consoleSignIn: () => '/docs/sign-in-to-the-console',
  people: () => '/docs/people',
  alerts: () => '/docs/alerts',
  backups: () => '/docs/backup-and-restore',
  webhooks: () => '/docs/alerts#webhooks',
  whatToDo: (phase: Service['state']['phase']) => `/docs/troubleshooting#service-${phase}`,
  installer: (publicUrl: string) => `${publicUrl}/install/agent.sh`,
} as const

/** Where people get help: the address set by the operator, or else the documentation's page. */
export function contactUrl(config: { contactUrl: string | null } | undefined): string {
  return config?.contactUrl ?? serverUrls.contact()
}

/** The same paths in the router's syntax. */
export const routePaths = {
  setUpFactor: '/account/second-factor',
  device: '/device',
  home: '/',
  domains: '/domains',
  testSignIn: '/domains/test-sign-in',
  domainLogs: '/domains/:domain/logs',
  nodes: '/nodes',
  node: '/nodes/:id',
  edges: '/edges',
  attention: '/nodes/attention',
  why: '/why',
  services: '/services',
  serviceLogs: '/nodes/:nodeId/:type/:id/logs',
  serviceTraffic: '/nodes/:nodeId/:type/:id/traffic',
  serviceHistory: '/nodes/:nodeId/:type/:id/history',
  requests: '/requests',
  account: '/account',
  people: '/people',
  history: '/history',
  settings: '/settings',
  alerts: '/alerts',
  alertHistory: '/alerts/history',
  alertChannels: '/alerts/channels',
  alertRules: '/alerts/rules',
} as const satisfies Record<Exclude<keyof typeof urls, 'login' | 'invite'>, string>

type Row = Pick<Service, 'nodeId' | 'type' | 'name'> & { id?: number }

/** A service is a row of its node's page, found there by its name; with its id the page goes to just this row. */
export function serviceRowUrl({ nodeId, type, name, id }: Row): string {
  const place = `${urls.node(nodeId)}?${type}.search=${encodeURIComponent(name)}`
  return id === undefined ? place : `${place}${serviceRowHash(id)}`
}

export const serviceRowHash = (id: number) => `#service-${id}`

/** The page of a domain is its row in the list. */
export function domainRowUrl(domain: string): string {
  return `${urls.domains()}?search=${encodeURIComponent(domain)}`
}

/** The public address of a domain, at the installation's https port. */
export function domainUrl(domain: string, publicUrl: string | undefined): string {
  const port = publicUrl ? URL.parse(publicUrl)?.port : ''
  return `https://${domain}${port ? `:${port}` : ''}`
}
