import type { AuthKind, Endpoint } from '@postern/contract/endpoints/endpoint'

/** Where a request carries a credential; `http cookie` is the console's own. */
export const CARRIERS = ['bearer', 'cookie', 'http cookie', 'query', 'basic', 'own header', 'body'] as const
export type Carrier = (typeof CARRIERS)[number]

/**
 * What a credential gives access to: `program` is an API token, `known …` was revoked or has expired, `nothing` no
 * longer works or never did.
 */
export type CredentialKind =
  | 'session'
  | 'ticket'
  | 'node'
  | 'known node'
  | 'unknown node'
  | 'program'
  | 'known program'
  | 'edge'
  | 'nothing'

/** 200 stands for any answer of the endpoint itself, including its refusal of the rest of the request. */
export type Verdict = 200 | 401 | 403

const TAKES: Record<AuthKind, readonly Carrier[]> = {
  none: [],
  session: ['bearer', 'cookie'],
  download: ['bearer', 'cookie', 'query'],
  stream: ['bearer', 'cookie', 'query'],
  'session or node': ['bearer', 'cookie'],
  node: ['bearer'],
  edge: ['bearer'],
}

type Worth = Partial<Record<CredentialKind, Verdict>>
const TO_PROGRAMS: Worth = { program: 200, 'known program': 403 }
const TO_PEOPLE: Worth = {
  ...TO_PROGRAMS,
  session: 200,
  node: 403,
  'known node': 403,
  'unknown node': 403,
}
const WORTH: Record<AuthKind, Worth> = {
  none: {},
  session: TO_PEOPLE,
  download: TO_PEOPLE,
  stream: TO_PEOPLE,
  'session or node': { ...TO_PROGRAMS, session: 200, node: 200, 'known node': 403 },
  node: { node: 200, 'known node': 403, session: 403, program: 403, 'known program': 403 },
  edge: { edge: 200 },
}

/** What the contract says about an endpoint, written as an independent rule: nothing here uses the server's code. */
export function verdictOf(
  { auth, method, isSessionOnly }: Endpoint,
  carrier: Carrier,
  kind: CredentialKind,
): Verdict {
  if (auth === 'none') return 200
  if (kind === 'program' && carrier === 'bearer' && isSessionOnly) return 403
  if (/program/.test(kind) && carrier !== 'bearer') return 401
  if (kind === 'ticket') return auth === 'stream' && carrier === 'query' ? 200 : 401
  // A cookie of this name that is not a session belongs to a service.
  const isRead = carrier !== 'cookie' || (method === 'GET' && kind === 'session')
  const isTaken = TAKES[auth].includes(carrier) && isRead
  return (isTaken && WORTH[auth][kind]) || 401
}

/** Credentials that were never issued: `%s` is a real session, `%t` without prefix, `%u` in capitals, `%h` its hash. */
export const NONSENSE: readonly (readonly [name: string, text: string])[] = [
  ['an empty text', ''],
  ['a prefix alone', 'pts_'],
  ['a session with another end', '%sA'],
  ['a session without its prefix', '%t'],
  ['a session in capitals', '%u'],
  ['two sessions', '%s,%s'],
  ['a session after a letter', 'x%s'],
  ['a session with a NUL', '%s\0'],
  ['a session as JSON', '["%s"]'],
  ['the hash of a session', '%h'],
  ['a ticket that was never issued', `ptt_${'A'.repeat(43)}`],
  ['a session that was never issued', `pts_${'A'.repeat(43)}`],
  ['SQL', "pts_' OR '1'='1"],
  ['null', 'null'],
  ['undefined', 'undefined'],
  ['a number', '1'],
  ['a property of objects', '__proto__'],
  ['a long text', `pts_${'A'.repeat(4000)}`],
]
