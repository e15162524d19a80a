/** Proves that a request which this server sends comes back to it: only this server knows the answer. */
export interface Proof {
  /** Part of the requested path. */
  nonce: string
  /** This server's answer to it. */
  secret: string
  /** After this, nobody gets the answer. */
  end(): void
}

export interface Proofs {
  begin(): Proof
  /** The answer of a proof that has begun. */
  find(nonce: string): string | undefined
}

/** With more checks than this at a time, the oldest ends. */
const MAX_OPEN = 1000

/** The answer is not in the question, so that a server that echoes requests proves nothing. */
export function createProofs(randomBytes: (count: number) => Buffer): Proofs {
  const open = new Map<string, string>()
  return {
    begin() {
      const [nonce, secret] = [randomBytes(16).toString('hex'), randomBytes(32).toString('hex')]
      const [oldest] = open.keys()
      if (oldest !== undefined && open.size >= MAX_OPEN) open.delete(oldest)
      open.set(nonce, secret)
      return { nonce, secret, end: () => void open.delete(nonce) }
    },
    find: (nonce) => open.get(nonce),
  }
}
