/** What the process says to its caller: each outcome, its exit code and what it means. The help prints this table. */
export const EXIT_CODES = {
  ok: [0, 'done; for status: the node is online'],
  failed: [1, 'something unexpected went wrong'],
  usage: [2, 'the command line is wrong'],
  'not-root': [3, 'root is needed'],
  'tools-missing': [4, 'wireguard-tools, iproute2 or nftables is missing'],
  'server-unreachable': [5, 'the server cannot be reached'],
  certificate: [6, 'the certificate of the server is not trusted'],
  'token-refused': [7, 'the server refuses the token'],
  'node-disabled': [8, 'the node is disabled in the console'],
  'no-handshake': [9, 'the tunnel gets no answer: UDP is blocked on the way'],
  'no-traffic': [10, 'the tunnel is up but carries no traffic'],
  'interface-taken': [11, 'the network interface belongs to another program'],
  'not-connected': [12, 'the agent is not connected or not running'],
  'server-answer': [13, 'the server gives an answer that the agent cannot use'],
} as const satisfies Record<string, readonly [number, string]>

export type Outcome = keyof typeof EXIT_CODES
export type Failure = Exclude<Outcome, 'ok'>

// The keys of a literal are exactly its type's.
export const OUTCOMES = Object.keys(EXIT_CODES) as Outcome[]

export function exitCodeOf(outcome: Outcome): number {
  return EXIT_CODES[outcome][0]
}
