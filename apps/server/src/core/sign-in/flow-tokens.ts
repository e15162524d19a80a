import { createSecrets, SecretsError } from '../secrets/secrets.ts'

/**
 * What the flow hands to itself through a browser: sealed, for a few minutes, and for one step only. Nothing of it is
 * kept, so nobody can fill the memory by beginning; with the key it ends at a restart.
 */
export interface FlowTokens {
  seal(kind: FlowTokenKind, seconds: number, content: object): string
  /** @returns undefined for a token of another kind, one that is too old, and whatever is none */
  open(kind: FlowTokenKind, token: string): unknown
}

/**
 * `attempt`: in a cookie of the browser that began. `state`: through the provider. `ticket`: back to the domain.
 * `trial`: through the provider too, of an operator who tries it out.
 */
type FlowTokenKind = 'attempt' | 'state' | 'ticket' | 'trial'

const MAX_TOKEN = 8192

export function createFlowTokens(key: Buffer, clock: () => number): FlowTokens {
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
