/**
 * First segments of the paths that the console, the API and the documentation answer, besides `/` itself. No service
 * can have them at the console's addresses. The server refuses to start with a route outside them, and a test checks
 * the console's pages.
 */
const RESERVED_PATHS: readonly string[] = [
  'api',
  'assets',
  'docs',
  'install',
  'login',
  'domains',
  'nodes',
  'edges',
  'why',
  'services',
  'requests',
  'settings',
  'alerts',
  'people',
  'history',
  'account',
  /** Where a person signs in the command. */
  'device',
  /** Where somebody who was invited chooses a password. */
  'invite',
  /** Certificate authorities verify names there. */
  '.well-known',
  /** Sign-in in front of services. */
  '.postern',
]

/** True for `/`, and for everything at or below a reserved path, in upper case too. */
export function isReservedPath(path: string): boolean {
  const first = path.split('/')[1]?.toLowerCase() ?? ''
  return first === '' || RESERVED_PATHS.includes(first)
}

/** The message for a service that asks for such a path at the console's addresses. */
export function reservedPathMessage(path: string, domain: string | null): string {
  return `${path} belongs to the console: choose another path${domain === null ? ', or a domain' : ''}`
}

/**
 * Where the server proves that a request reached it: the rest of the path is the nonce of a domain's check. Over
 * plain HTTP too.
 */
export const PROOF_PATH = '/.well-known/postern'

/** Where each edge says whether visitors should come to it: 200, or 503 while it is drained. At every host, over plain HTTP too. */
export const HEALTH_PATH = '/.well-known/postern/health'
