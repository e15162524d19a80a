/** The outcomes of a command, with exit codes and meanings. The help prints this table. */
export const EXIT_CODES = {
  ok: [0, 'done; for status: the node is online'],
  failed: [1, 'something unexpected went wrong'],
  usage: [2, 'the command line is wrong'],
  'not-root': [3, 'root is required, in a container the capability NET_ADMIN'],
  'tools-missing': [4, 'wireguard-tools, iproute2 or nftables is missing'],
  'server-unreachable': [5, 'the server cannot be reached'],
  certificate: [6, "the server's certificate is not trusted"],
  'token-refused': [7, 'the server rejected the token'],
  'node-disabled': [8, 'the node is disabled in the console'],
  'no-handshake': [9, 'the tunnel gets no answer: UDP is blocked on the way'],
  'no-traffic': [10, 'the tunnel is up but carries no traffic'],
  'interface-taken': [11, 'the network interface belongs to another program'],
  'not-connected': [12, 'the agent is not connected or not running'],
  'server-answer': [13, "the agent cannot use the server's answer"],
  'not-reached': [14, 'for why: visitors of the address get no answer'],
  'not-signed-in': [15, 'there is no server to work with: use postern login'],
  'not-allowed': [16, 'the token may not do this, or a person denied it'],
  'not-found': [17, 'there is no such record, or several have this name'],
  refused: [18, 'the server refused the values, or they conflict with another record'],
  different: [19, 'for diff: the server is not as the file says'],
} as const satisfies Record<string, readonly [number, string]>

export type Outcome = keyof typeof EXIT_CODES
export type Failure = Exclude<Outcome, 'ok'>

// The keys of a literal are exactly its type's.
export const OUTCOMES = Object.keys(EXIT_CODES) as Outcome[]

export function exitCodeOf(outcome: Outcome): number {
  return EXIT_CODES[outcome][0]
}

/** A failure that the person at the terminal can act on. `message` says what is wrong and what to do. */
export class AgentError extends Error {
  readonly code: Failure
  constructor(code: Failure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
