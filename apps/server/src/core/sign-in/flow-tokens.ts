import { createSecrets, SecretsError } from '../secrets/secrets.ts'

/**
 * Data that the flow passes to itself through a browser: sealed, for a few minutes, and for one step only. None of it
 * is stored, so nobody can fill the memory with attempts; at a restart it ends with the key.
 */
export interface FlowTokens<Kind extends string = FlowTokenKind> {
  seal(kind: Kind, seconds: number, content: object): string
  /** @returns undefined for a token of another kind, one that is too old, and anything else */
  open(kind: Kind, token: string): unknown
}

/**
 * `attempt`: in a cookie of the browser that began it. `state`: through the provider. `ticket`: back to the domain.
 * `trial`: also through the provider, for an operator who tries it out.
 */
type FlowTokenKind = 'attempt' | 'state' | 'ticket' | 'trial'

const MAX_TOKEN = 8192

export function createFlowTokens<Kind extends string = FlowTokenKind>(
  key: Buffer,
  clock: () => number,
): FlowTokens<Kind> {
  const secrets = createSecrets(key)
  return {
    seal: (kind, seconds, content) =>
      secrets.seal(JSON.stringify({ until: clock() + seconds * 1000, content }), kind),
    open(kind, token) {
      if (token.length > MAX_TOKEN) return undefined
      try {
        const { until, content } = JSON.parse(secrets.open(token, kind))
        return until > clock() ? content : undefined
      } catch (error) {
        if (error instanceof SecretsError) return undefined
        throw error
      }
    },
  }
}
