/** What this server alone can answer a request with that it makes itself, wherever the request comes out. */
export interface Proof {
  /** Stands in the path that is asked for. */
  nonce: string
  /** What this server then says. */
  secret: string
  /** Nobody gets the answer after this. */
  end(): void
}

export interface Proofs {
  begin(): Proof
  /** The secret of one that has begun. */
  find(nonce: string): string | undefined
}

/** More checks than this at a time end the oldest. */
const MAX_OPEN = 1000

/** The answer is not in the question, so that a server that repeats what it is asked proves nothing. */
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
