/** Why a request or connection did not get the service's answer: the code of the rule, and the words for people. */
export const REASONS = {
  request: 'the request is malformed',
  large: 'the headers of the request are larger than 30 kB',
  path: 'the path can be read in more than one way',
  'sign-in': 'the visitor has to sign in',
  origin: 'a page of another site sent the request',
  blocked: 'the IP list of the service does not allow this address',
  disabled: 'the service is disabled',
  tunnel: 'the tunnel to the node is down',
  source: 'too many connections from this visitor',
  requests: 'too many requests at once from this visitor',
  full: 'the server has no room left',
  name: "the visitor asked for a name other than the service's domain",
  unresolved: 'the address of the service cannot be used',
  tls: 'TLS to the service could not be started',
  handshake: 'the TLS handshake failed',
  ended: 'ended because the service no longer admits this visitor',
  refused: 'the service refused the connection',
  'connect-timeout': 'the connection to the service timed out',
  'refused-or-tls': 'the service refused the connection, or TLS to it could not be started',
  'no-answer': 'the service closed the connection without an answer',
  'answer-timeout': 'the service did not answer in time',
  'broken-answer': 'the service broke off its answer',
  'stalled-answer': 'the service stopped in the middle of its answer',
  'bad-answer': 'the answer of the service is not valid HTTP, or its headers are larger than 30 kB',
  'not-http': 'the request is not valid HTTP',
  'no-resources': 'the proxy has no resources for a connection',
  proxy: 'the proxy failed',
  left: 'the visitor left',
  slow: 'the visitor did not send the request in time',
  silent: 'the visitor was silent for too long',
} as const

export type Reason = keyof typeof REASONS

// The keys of a literal.
export const REASON_CODES = Object.keys(REASONS) as Reason[]

export function isReason(code: string): code is Reason {
  return Object.hasOwn(REASONS, code)
}
