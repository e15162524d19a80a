/**
 * First segments of the paths that the console, the API and the documentation answer, beside `/` itself. Where the
 * console answers, no service has them. The server refuses to start with a route outside of them, and a test walks
 * the pages of the console.
 */
const RESERVED_PATHS: readonly string[] = [
  'api',
  'assets',
  'docs',
  'install',
  'login',
  'domains',
  'nodes',
  /** Certificate authorities verify names there. */
  '.well-known',
  /** Sign-in in front of services. */
  '.postern',
]

/** True for `/`, which is above them all, and for everything at or below a reserved path, in upper case too. */
export function isReservedPath(path: string): boolean {
  const first = path.split('/')[1]?.toLowerCase() ?? ''
  return first === '' || RESERVED_PATHS.includes(first)
}

/** What a person reads who chose such a path where the console answers. */
export function reservedPathMessage(path: string, domain: string | null): string {
  return `${path} belongs to the console: choose another path${domain === null ? ', or a domain' : ''}`
}

/** Where the server proves that a request came out at it: below it is the nonce of a check of a domain. Plain HTTP too. */
export const PROOF_PATH = '/.well-known/postern'
