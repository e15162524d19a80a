import type { Service } from '@postern/contract/services'

/** Every path of the console. The router and all links are made of these; the sign-in page is a document of its own. */
export const urls = {
  login: () => '/login',
  home: () => '/',
  domains: () => '/domains',
  testSignIn: () => '/domains/test-sign-in',
  domainLogs: (domain: string) => `/domains/${encodeURIComponent(domain)}/logs`,
  nodes: () => '/nodes',
  node: (id: number) => `/nodes/${id}`,
  attention: () => '/nodes/attention',
  serviceLogs: ({ nodeId, type, id }: Pick<Service, 'nodeId' | 'type' | 'id'>) =>
    `/nodes/${nodeId}/${type}/${id}/logs`,
} as const

/** Pages that the server itself serves. */
export const serverUrls = {
  docs: () => '/docs',
  terms: () => '/docs/terms',
  contact: () => '/docs/contact',
  cli: () => '/docs/cli',
  publicHost: () => '/docs/settings',
  docker: () => '/docs/docker',
  dockerGateway: () => '/docs/docker#a-gateway',
  kubernetes: () => '/docs/kubernetes',
  homeAssistant: () => '/docs/home-assistant',
  withoutDomain: () => '/docs/domain-or-path#what-breaks-without-a-domain',
  trustRoot: () => '/docs/certificates#trust-the-root',
  lostPassword: () => '/docs/backup-and-restore#a-lost-password',
  root: () => '/install/root.crt',
  signIn: () => '/docs/sign-in',
  whatToDo: (phase: Service['state']['phase']) => `/docs/troubleshooting#service-${phase}`,
  installer: (publicUrl: string) => `${publicUrl}/install/agent.sh`,
} as const

/** Where people get help: the address of the people who run the server, or else the page that says how. */
export function contactUrl(config: { contactUrl: string | null } | undefined): string {
  return config?.contactUrl ?? serverUrls.contact()
}

/** The same paths as the router spells them. */
export const routePaths = {
  home: '/',
  domains: '/domains',
  testSignIn: '/domains/test-sign-in',
  domainLogs: '/domains/:domain/logs',
  nodes: '/nodes',
  node: '/nodes/:id',
  attention: '/nodes/attention',
  serviceLogs: '/nodes/:nodeId/:type/:id/logs',
} as const satisfies Record<Exclude<keyof typeof urls, 'login'>, string>

/** A service is a row of its node's page, found there by its name. */
export function serviceRowUrl({ nodeId, type, name }: Pick<Service, 'nodeId' | 'type' | 'name'>): string {
  return `${urls.node(nodeId)}?${type}.search=${encodeURIComponent(name)}`
}

/** The page of a domain is its row in the list. */
export function domainRowUrl(domain: string): string {
  return `${urls.domains()}?search=${encodeURIComponent(domain)}`
}

/** Where visitors find a domain: every one is served at the https port of the installation itself. */
export function domainUrl(domain: string, publicUrl: string | undefined): string {
  const port = publicUrl ? URL.parse(publicUrl)?.port : ''
  return `https://${domain}${port ? `:${port}` : ''}`
}
